import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Timestamp, VisibleText } from './common.ts';

/** The two planes. A secret of one plane never sees a session of the other. */
export const PLANES = ['live', 'test'] as const;
export type Plane = (typeof PLANES)[number];

/** What the service keeps and shows of a secret; never its value. */
export const Secret = Type.Object({
  secretId: Id('sec'),
  organizationId: Id('org'),
  name: Type.Optional(Type.String()),
  secretEnvironment: OneOf(PLANES),
  prefix: Type.String({ description: 'the first 12 characters' }),
  lastFour: Type.String(),
  status: OneOf(['active', 'revoked']),
  createdBy: Id('usr'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lastUsedAt: Type.Optional(Timestamp),
  revokedAt: Type.Optional(Timestamp),
});
export type Secret = Static<typeof Secret>;

export const IssueSecretBody = Body({
  name: Type.Optional(VisibleText(200)),
  secretEnvironment: Type.Optional(OneOf(PLANES)),
});

/** The only answer that contains the plaintext. */
export const IssuedSecret = Type.Object({ secretId: Id('sec'), secret: Secret, value: Type.String() });
