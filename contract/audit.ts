import { type Static, Type } from 'typebox';
import { Id, OneOf, Timestamp } from './common.ts';

/** The actions that the audit log records, by the noun of their target. */
export const AUDIT_ACTIONS = [
  'organization.created',
  'organization.renamed',
  'organization.owner_changed',
  'organization.exported',
  'organization.mask_requested',
  'organization.masked',
  'policy.changed',
  'directory.token_issued',
  'directory.token_revoked',
  'member.invited',
  'member.invitation_accepted',
  'member.role_changed',
  'member.invitation_ended',
  'member.removed',
  'member.left',
  'member.signed_in',
  'member.sessions_handed_over',
  'member.sessions_deleted',
  'secret.issued',
  'secret.revoked',
  'machine.sign_in_approved',
  'machine.sign_in_denied',
  'machine.registered',
  'machine.revoked',
  'machine.claimed',
  'machine.person_changed',
  'agent.installed',
  'agent.changed',
  'session.deleted',
  'session.removed',
  'session.deletion_refused',
  'session.expired',
  'session.content_expired',
  'session.deletion_forgotten',
  'hold.placed',
  'hold.released',
  'session.visibility_changed',
  'session.mask_requested',
  'session.masked',
  'share.created',
  'share.revoked',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_ACTORS = ['person', 'secret', 'machine', 'directory', 'service'] as const;

/** Names a person or thing by its id, and never by an e-mail or a name, because entries outlive both. */
export const Party = Type.Object({
  kind: OneOf([...AUDIT_ACTORS, 'organization', 'agent', 'session', 'hold']),
  id: Type.String(),
});
export type AuditParty = Static<typeof Party>;

const Digest = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hexadecimal' });

const Withheld = Type.Literal(true, {
  description: 'the id of a session that is private to another person is replaced; `hash` was computed with the id',
});

/** One entry of an organization's audit log. */
export const AuditEntry = Type.Object({
  sequence: Type.Integer({ minimum: 1, description: '1 for the first entry of the organization, without gaps' }),
  at: Timestamp,
  actor: Party,
  action: OneOf(AUDIT_ACTIONS),
  target: Party,
  details: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer(), Type.Boolean()]), {
      description: 'such as the role before and after',
    }),
  ),
  withheld: Type.Optional(Withheld),
  previous: Digest,
  hash: Digest,
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditQuery = Type.Object({
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous page' })),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,2}$', description: '1 to 500; default 100' })),
  action: Type.Optional(OneOf(AUDIT_ACTIONS)),
  actor: Type.Optional(Type.String({ description: 'id of a person, secret or machine' })),
});

/** The newest entries first. */
export const AuditPage = Type.Object({
  entries: Type.Array(AuditEntry),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
});

/** Where a SIEM continues. */
export const AuditEventsQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      description: 'metadata.sequence of the last event that was read; default 0: from the first event on',
    }),
  ),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,4}$', description: '1 to 10000; default 1000' })),
});

const OcsfUser = Type.Object({ uid: Type.String(), type_id: Type.Integer(), type: Type.String() });

/** An entry of the audit log as an event of the Open Cybersecurity Schema Framework 1.6. */
export const AuditEvent = Type.Object({
  category_uid: Type.Literal(3),
  class_uid: Type.Integer({ description: '3001 Account Change, 3002 Authentication or 3004 Entity Management' }),
  activity_id: Type.Integer(),
  activity_name: Type.Optional(Type.String({ description: 'the action, if activity_id is 99' })),
  type_uid: Type.Integer(),
  severity_id: Type.Literal(1),
  status_id: Type.Union([Type.Literal(1), Type.Literal(2)], { description: '1 success, 2 failure: it was refused' }),
  time: Type.Integer({ description: 'milliseconds since 1970' }),
  metadata: Type.Object({
    version: Type.String({ description: 'of the schema' }),
    product: Type.Object({ name: Type.String(), vendor_name: Type.String(), version: Type.String() }),
    uid: Type.String({ description: 'the organization and the sequence; it never changes' }),
    sequence: Type.Integer({ minimum: 1 }),
    event_code: OneOf(AUDIT_ACTIONS),
    log_name: Type.Literal('audit'),
    original_time: Timestamp,
    tenant_uid: Id('org'),
  }),
  actor: Type.Object({ user: OcsfUser }),
  user: Type.Optional(OcsfUser),
  service: Type.Optional(Type.Object({ name: Type.String() })),
  entity: Type.Optional(Type.Object({ type: Type.String(), uid: Type.String() })),
  unmapped: Type.Object({
    details: Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer(), Type.Boolean()])),
    withheld: Type.Optional(Withheld),
    previous: Digest,
    hash: Digest,
  }),
});
export type AuditEvent = Static<typeof AuditEvent>;

/** The last entry of an organization at a time, with the service's signature. */
export const SignedHead = Type.Object({
  organizationId: Id('org'),
  sequence: Type.Integer({ minimum: 0 }),
  hash: Digest,
  at: Timestamp,
  signature: Type.String({ description: 'Ed25519 over the other fields as canonical JSON (RFC 8785), in base64' }),
});
export type SignedHead = Static<typeof SignedHead>;

export const AuditHead = Type.Object({
  head: SignedHead,
  publicKey: Type.String({ description: 'the public key of the signature, as PEM' }),
});
