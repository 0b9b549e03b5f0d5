import { type Static, Type } from 'typebox';

/**
 * What a holder of an organization secret may learn of stored events: whether they are the ones it captured, and nothing
 * of what they say. How digests are made is in `digester.ts`.
 */

/** A keyed digest in base64url: 22 characters of an event, 11 of a file or a record. */
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
