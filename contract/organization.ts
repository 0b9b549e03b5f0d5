import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp } from './common.ts';
import { without } from './visible.ts';

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

/** Only the creation returns the slug. */
export const CreatedOrganization = Type.Object({ ...Organization.properties, slug: Type.String() });

export const MAX_NAME_LENGTH = 200;

/** The length and the characters count after trimming, so the service checks them. */
export const OrganizationName = Body({
  name: Type.String({
    pattern: '^[^\\u0000]*$',
    description: `1 to ${MAX_NAME_LENGTH} characters after trimming, none of them hidden`,
  }),
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

/** The form of an e-mail address, here and in the forms of the embedded identity provider. */
export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: `^${without('@<>",;:()[\\]\\\\')}+@${without('@<>",;:()\\\\')}+$`,
});

export const InviteBody = Body({
  email: Email,
  role: Type.Optional(OneOf(ROLES)),
});

/** An invitation that nobody has accepted yet. */
export const WaitingInvitation = Type.Object({
  userId: Id('usr'),
  email: Type.String(),
  role: OneOf(ROLES),
  mailedAt: Type.Optional(Timestamp),
  isInOutbox: Type.Optional(
    Type.Literal(true, {
      description: 'present if the service has no mail server: its operator finds the mail in the outbox',
    }),
  ),
  expiresAt: Type.Optional(Timestamp),
});
export type WaitingInvitation = Static<typeof WaitingInvitation>;

/** A pending invitation in the form that the invited person sees. */
export const OfferedInvitation = Type.Object({
  organizationId: Id('org'),
  organizationName: Type.String(),
  role: OneOf(ROLES),
});
export type OfferedInvitation = Static<typeof OfferedInvitation>;

/** Decides about the active secrets that a leaving person issued, or has on their machines. */
/** Decides about the credentials of a person who leaves. */
export const DepartureQuery = Type.Object({
  secrets: Type.Optional(
    Type.Enum(['revoke', 'keep'], {
      description:
        'whether to revoke the active secrets that the person issued or has on their machines; default `revoke`',
    }),
  ),
  directory: Type.Optional(
    Type.Enum(['revoke', 'keep'], {
      description: 'whether to revoke the token of the directory if the person issued it; default `revoke`',
    }),
  ),
});
export type DepartureQuery = Static<typeof DepartureQuery>;

/** Decides about the belongings of a member whom an admin removes. */
export const RemovalQuery = Type.Object({
  ...DepartureQuery.properties,
  sessions: Type.Optional(
    Type.Enum(['keep', 'handOver', 'delete'], {
      description:
        'for their machines and sessions: `keep` leaves them with the removed person’s id, so that nobody reads the private ones; `handOver` gives the machines, and the sessions that every member may read, to the member `to`; `delete` revokes the machines and deletes the sessions, soon after the answer; default `keep`',
    }),
  ),
  to: Type.Optional(Text(64)),
});
export type RemovalQuery = Static<typeof RemovalQuery>;

/** Repeats the name, so that no other organization is deleted by mistake. */
export const DeleteOrganizationBody = Body({ name: Text(MAX_NAME_LENGTH) });

export const RoleBody = Body({ role: OneOf(ROLES) });
export const OwnerBody = Body({ userId: Text(64) });
export const MembershipBody = Body({ organizationId: Text(64) });
