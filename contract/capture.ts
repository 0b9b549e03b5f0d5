import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp } from './common.ts';
import { IdempotencyKey } from './event.ts';
import { CompleteSessionBody, OpenSessionBody, RepoRemote, Session } from './session.ts';

/*
 * For a client that captures many sessions: each request carries many of them, and each is answered for itself.
 */

/** Sessions that one request may open or complete. */
export const MAX_SESSIONS_AT_ONCE = 100;
/** Batches that one request may append. */
export const MAX_BATCHES_AT_ONCE = 200;
/** Bytes of such a request, as it is sent and decoded; one full batch fits. */
export const MAX_BULK_BYTES = 16 * 1024 * 1024;

/**
 * The client's own name for a session, the same wherever the session is met again: a hash of the agent and the agent's
 * session id. It is no secret, since members read what it is made of: it finds a session, and entitles to nothing else.
 */
export const ClientKey = Type.String({
  pattern: '^[A-Za-z0-9_-]{16,128}$',
  description: '16 to 128 of A-Z a-z 0-9 _ -',
});

/** How many events a session is to have before a batch: others may append to it as well. */
export const ExpectedEvents = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Why one of many was not done, as the error answer of a request for it alone would say. */
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
      // If the agent adds to an `expired` session, the client captures that as a new session that continues it.
      outcome: OneOf(['opened', 'found', 'deleted', 'expired', 'refused']),
      session: Type.Optional(Session),
      // Set for an expired session: its number of events, and the time of the last one.
      eventCount: Type.Optional(Type.Integer({ minimum: 0 })),
      lastEventAt: Type.Optional(Timestamp),
      ...Refusal,
    }),
  ),
});
export type CaptureResult = Static<typeof CapturedSessions>['results'][number];

/** The index of a request with many batches. The body of each follows in a frame of its own. */
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
      // With `sequence_mismatch`: how many events the session has.
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
