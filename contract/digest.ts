import { type Static, Type } from 'typebox';
import { MAX_SESSIONS_AT_ONCE, Refusal } from './capture.ts';
import { Body, Text } from './common.ts';

/**
 * Lets a holder of an organization secret check that the stored events are the ones that it captured, without reading their
 * content. `digester.ts` computes the digests.
 */

/** A keyed digest in base64url: 22 characters for an event, 11 for a file or a record. */
const Digest = (description: string) => Type.Optional(Type.String({ description }));

const Count = (description: string) => Type.Optional(Type.Integer({ description }));

/** The digests of an event. An event without a record has only some of them. */
export const EventDigest = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  eventType: Type.String(),
  digest: Digest("of the payload's exact text"),
  content: Digest('of the same text without the file and the position in its source'),
  file: Digest('of `source.file`'),
  record: Digest('of `source.record`'),
  position: Count('`source.position`'),
  index: Count('`source.index`'),
  revision: Count('`source.revision`'),
  part: Count('number of the part, if the payload was sent in parts'),
  of: Count('number of parts'),
  masked: Type.Optional(Type.Literal(true, { description: 'a secret was masked in it' })),
});
export type EventDigest = Static<typeof EventDigest>;

/** A new random text of the caller. It forces the service to compute the answer from the stored events. */
const Nonce = Type.String({ pattern: '^[A-Za-z0-9_-]{22,64}$', description: '16 random bytes or more, base64url' });
const NextFrom = Type.Union([Type.Integer(), Type.Null()], {
  description: 'first sequence of the next request; null at the end',
});

/** The most events in one answer. */
export const MAX_DIGESTS_AT_ONCE = 10_000;

export const DigestsBody = Body({
  nonce: Nonce,
  sessions: Type.Array(
    Body({
      sessionId: Text(255),
      from: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'default 1' })),
    }),
    { minItems: 1, maxItems: MAX_SESSIONS_AT_ONCE },
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_DIGESTS_AT_ONCE, description: 'events of all sessions; default 10,000' }),
  ),
});

/** Results in the order of the request. A session that did not fit has no digests; the client requests it again. */
export const DigestsPage = Type.Object({
  results: Type.Array(
    Type.Object({
      sessionId: Type.String(),
      digests: Type.Optional(Type.Array(EventDigest)),
      nextFrom: Type.Optional(NextFrom),
      ...Refusal,
    }),
  ),
});
export type DigestsResult = Static<typeof DigestsPage>['results'][number];
