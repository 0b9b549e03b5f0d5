import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Timestamp } from './common.ts';

export const ROLES = ['owner', 'admin', 'member'] as const;

export const Organization = Type.Object({
  organizationId: Id('org'),
  name: Type.String(),
  status: OneOf(['active']),
  ownerUserId: Id('usr'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Organization = Static<typeof Organization>;

/** Creation alone tells the slug. */
export const CreatedOrganization = Type.Object({ ...Organization.properties, slug: Type.String() });

/** 1 to 200 characters after trimming. */
export const OrganizationName = Body({ name: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }) });

export const Member = Type.Object({
  organizationId: Id('org'),
  userId: Id('usr'),
  email: Type.String(),
  role: OneOf(ROLES),
  status: OneOf(['active', 'invited']),
  joinedAt: Type.Optional(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Member = Static<typeof Member>;
export type Role = Member['role'];

export const Invitation = Type.Object({
  userId: Id('usr'),
  email: Type.String(),
  role: OneOf(ROLES),
  status: OneOf(['active', 'invited']),
});

export const InviteBody = Body({
  email: Type.String({ minLength: 3, maxLength: 254, pattern: '^[^\\s@]+@[^\\s@]+$' }),
  role: Type.Optional(OneOf(ROLES)),
});
