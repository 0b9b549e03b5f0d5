import { type Static, Type } from 'typebox';

/**
 * What a holder of an organization secret may learn of stored events: whether they are the ones it captured, and nothing
 * of what they say. How digests are made is in `digester.ts`.
 */

/** A keyed digest in base64url: 22 characters of an event, 11 of anything smaller. */
const Digest = (description: string) => Type.Optional(Type.String({ description }));

const Count = (description: string) => Type.Optional(Type.Integer({ description }));

/** An event by its digests. Those of an event that was not made from a record are absent. */
export const EventDigest = Type.Object({
  sequence: Type.Integer({ minimum: 1 }),
  eventType: Type.String(),
  digest: Digest("of the payload's exact text"),
  content: Digest('of the same text without the file and the position that its source names'),
  file: Digest('of `source.file`'),
  record: Digest('of `source.record`'),
  position: Count('`source.position`'),
  index: Count('`source.index`'),
  revision: Count('`source.revision`'),
  part: Count('which part of a payload that travels in parts'),
  of: Count('how many parts there are'),
  masked: Type.Optional(Type.Literal(true, { description: 'a secret was masked in it' })),
});
export type EventDigest = Static<typeof EventDigest>;

/** A leaf value by its digests: a string, a number, a boolean, null, or an empty container. */
export const LeafDigest = Type.Object({
  field: Type.Optional(Type.String({ description: 'the field of the vocabulary that it stands in' })),
  path: Type.String({ description: 'digest of the JSON path' }),
  value: Type.String({ description: "digest of the value's JSON text" }),
  masked: Type.Optional(Type.Literal(true, { description: 'a mark stands in the value or in a name on its path' })),
});
export type LeafDigest = Static<typeof LeafDigest>;

/** The leaves of an event, or of the payload that a run of parts carries. */
export const PayloadDigest = Type.Object({
  sequence: Type.Integer({ minimum: 1, description: 'of the event, or of the first of the parts' }),
  events: Type.Integer({ minimum: 1, description: 'how many events carry the payload' }),
  leaves: Type.Array(LeafDigest),
});
export type PayloadDigest = Static<typeof PayloadDigest>;

/** Chosen by the caller anew, so that the answer tells what is stored now. */
const Nonce = Type.String({ pattern: '^[A-Za-z0-9_-]{22,64}$', description: '16 random bytes or more, base64url' });
const From = Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'first sequence; default 1' }));
const NextFrom = Type.Union([Type.Integer(), Type.Null()], { description: 'where the next page begins' });

export const DigestQuery = Type.Object({
  nonce: Nonce,
  from: From,
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,3}$', description: 'events; default 100' })),
});
export const DigestPage = Type.Object({ digests: Type.Array(EventDigest), nextFrom: NextFrom });
export type DigestPage = Static<typeof DigestPage>;

/** The most events of a request for leaves: what they hold is in memory at once if it is one payload in parts. */
export const MAX_LEAF_EVENTS = 50;
export const LeafQuery = Type.Object({
  nonce: Nonce,
  from: From,
  limit: Type.Optional(Type.String({ pattern: '^([1-9]|[1-4][0-9]|50)$', description: 'events, 1 to 50; default 1' })),
});
export const LeafPage = Type.Object({ payloads: Type.Array(PayloadDigest), nextFrom: NextFrom });
export type LeafPage = Static<typeof LeafPage>;
