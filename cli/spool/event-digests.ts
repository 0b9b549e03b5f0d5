import { contentDigest } from '../../contract/chain.ts';
import { countMarks } from '../../redact/mark.ts';

/** What a receipt needs of the events of a batch. It is stored with them, so that no batch is unpacked after it was sent. */
export interface EventDigests {
  /** The content digests of the events, 32 bytes each. They give away no more than the events beside them. */
  digests: Uint8Array;
  /** How often each rule masked a text in them. */
  marks: Record<string, number>;
}

const BYTES = 32;
const EVENT = /^\{"eventType":("(?:[^"\\]|\\.)*"),"payload":/;

/** @param texts the JSON texts of the events, exactly as they are sent */
export function digestEvents(texts: readonly string[]): EventDigests {
  const digests = Buffer.alloc(texts.length * BYTES);
  const marks: Record<string, number> = {};
  for (const [index, text] of texts.entries()) {
    const [opening, eventType] = EVENT.exec(text) ?? [];
    if (opening === undefined || eventType === undefined) throw new Error('an event does not begin with its type');
    const payload = text.slice(opening.length, -1);
    digests.write(contentDigest(JSON.parse(eventType) as string, payload), index * BYTES, 'hex');
    countMarks(payload, marks);
  }
  return { digests, marks };
}

/** The digests one by one, in hexadecimal. */
export function* eachDigest({ digests }: EventDigests): Generator<string> {
  const bytes = Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength);
  for (let at = 0; at < bytes.length; at += BYTES) yield bytes.toString('hex', at, at + BYTES);
}
