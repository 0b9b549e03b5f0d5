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

export const MAX_NAME_LENGTH = 200;

/** The length counts after trimming, so it is the service that checks it. */
export const OrganizationName = Body({
  name: Type.String({ pattern: '^[^\\u0000]*$', description: `1 to ${MAX_NAME_LENGTH} characters after trimming` }),
});

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
  email: Type.String({ minLength: 3, maxLength: 254, pattern: '^[^\\s@\\u0000]+@[^\\s@\\u0000]+$' }),
  role: Type.Optional(OneOf(ROLES)),
});
