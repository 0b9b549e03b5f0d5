import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp } from './common.ts';
import { IdempotencyKey } from './event.ts';
import { ChainKey } from './salts.ts';
import { CompleteSessionBody, OpenSessionBody, RepoRemote, Session } from './session.ts';

/*
 * For a client that captures many sessions. Each request contains many sessions, and each session gets its own answer.
 */

/** The most sessions that one request may open or complete. */
export const MAX_SESSIONS_AT_ONCE = 100;
/** The most batches that one request may append. */
export const MAX_BATCHES_AT_ONCE = 200;
/** The most bytes of this kind of request, both sent and decoded. One full batch fits. */
export const MAX_BULK_BYTES = 16 * 1024 * 1024;

/**
 * The client's own name for a session: a hash of the agent and the agent's session id. It is the same wherever the client finds
 * the session again. It is not a secret, because members can read its inputs. It only finds a session, and grants no other
 * right.
 */
export const ClientKey = Type.String({
  pattern: '^[A-Za-z0-9_-]{16,128}$',
  description: '16 to 128 of A-Z a-z 0-9 _ -',
});

/** The expected number of events in a session before a batch, because others may append to it as well. */
export const ExpectedEvents = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Why one of many items was refused: the same error as the answer to a request for it alone. */
export const Refusal = { error: Type.Optional(Type.String()), code: Type.Optional(Type.String()) };

export const CapturedSession = Type.Object({
  ...OpenSessionBody.properties,
  repoRemote: RepoRemote,
  clientKey: ClientKey,
  startedAt: Type.Optional(Timestamp),
  endedAt: Type.Optional(Timestamp),
  continues: Type.Optional(ClientKey),
  forkedFrom: Type.Optional(ClientKey),
});
export type CapturedSession = Static<typeof CapturedSession>;

export const CaptureSessionsBody = Body({
  sessions: Type.Array(CapturedSession, { minItems: 1, maxItems: MAX_SESSIONS_AT_ONCE }),
});

export const CapturedSessions = Type.Object({
  results: Type.Array(
    Type.Object({
      clientKey: ClientKey,
      // If the agent adds to an `expired` session, the client captures the addition as a new session that continues it. A `foreign`
      // session belongs to a machine of somebody else, who still writes to it: the client captures under a key of its own.
      outcome: OneOf(['opened', 'found', 'foreign', 'deleted', 'expired', 'refused']),
      session: Type.Optional(Session),
      // Set for the sender of a session without events: the key of the salts of its events.
      chainKey: Type.Optional(ChainKey),
      // Set for an expired session: its number of events, and the time of the last one.
      eventCount: Type.Optional(Type.Integer({ minimum: 0 })),
      lastEventAt: Type.Optional(Timestamp),
      ...Refusal,
    }),
  ),
});
export type CaptureResult = Static<typeof CapturedSessions>['results'][number];

/** The index of a request with many batches. The body of each batch follows in its own frame. */
export const BulkIndex = Body({
  appends: Type.Array(
    Body({
      sessionId: Text(255),
      idempotencyKey: IdempotencyKey,
      expectedEvents: Type.Optional(ExpectedEvents),
    }),
    { minItems: 1, maxItems: MAX_BATCHES_AT_ONCE },
  ),
});

export const BulkAppended = Type.Object({
  results: Type.Array(
    Type.Object({
      sessionId: Id('ses'),
      idempotencyKey: Type.String(),
      accepted: Type.Optional(Type.Integer()),
      firstSequence: Type.Optional(Type.Integer()),
      lastSequence: Type.Optional(Type.Integer()),
      async: Type.Optional(Type.Boolean()),
      replayed: Type.Optional(Type.Boolean()),
      // With `sequence_mismatch`: the number of events in the session.
      eventCount: Type.Optional(Type.Integer()),
      ...Refusal,
    }),
  ),
});
export type BulkResult = Static<typeof BulkAppended>['results'][number];

export const CompleteSessionsBody = Body({
  sessions: Type.Array(Body({ sessionId: Text(255), ...CompleteSessionBody.properties }), {
    minItems: 1,
    maxItems: MAX_SESSIONS_AT_ONCE,
  }),
});

export const CompletedSessions = Type.Object({
  results: Type.Array(
    Type.Object({
      sessionId: Id('ses'),
      status: Type.Optional(OneOf(['completed', 'failed'])),
      endedAt: Type.Optional(Timestamp),
      ...Refusal,
    }),
  ),
});

export const DeletedSession = Type.Object({ sessionId: Id('ses') });
