import { type Static, Type } from 'typebox';
import { Party } from './audit.ts';
import { Id, OneOf, Timestamp } from './common.ts';

/** Why a session was deleted. `policy`: only its content was removed, and its facts remain. */
export const DELETION_CAUSES = ['person', 'machine', 'expiry', 'organization', 'policy'] as const;

/** The record that remains of a deleted session, or of its removed content: what was removed, by whom, and why. */
export const DeletionReceipt = Type.Object({
  sessionId: Id('ses'),
  why: OneOf(DELETION_CAUSES),
  by: Type.Optional(Party),
  deletedAt: Timestamp,
  removedAt: Type.Optional({ ...Timestamp, description: 'when the last of it was removed; absent until then' }),
  events: Type.Integer({ minimum: 0, description: 'events that were removed so far' }),
  appends: Type.Integer({ minimum: 0, description: 'appends in which the events were sent' }),
  bytes: Type.Integer({ minimum: 0, description: 'stored bytes of the events, compressed' }),
  digest: Type.Optional(
    Type.String({ description: 'SHA-256 over the digest of the appends before and the stored bytes of the next one' }),
  ),
});
export type DeletionReceipt = Static<typeof DeletionReceipt>;
