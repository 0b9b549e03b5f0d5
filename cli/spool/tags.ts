import { hash } from 'node:crypto';

/** A record by which it is known again without its spool, and how many of its events are meant. */
export interface Tag {
  /** `TAG_BYTES` long. */
  record: Buffer;
  events: number;
}

/** Two records of one session share a tag once in 2^64 pairs. */
export const TAG_BYTES = 8;
const ENTRY_BYTES = TAG_BYTES + 2;
const MAX_EVENTS = 0xffff;

export interface TaggedRecord {
  agent: string;
  session: string;
  subagent: string | undefined;
  /** The hash of its key, which is enough; or of its text, which others may share. */
  identity: Uint8Array;
  keyed: boolean;
  /** Which of its file's records with the same text it is, where it has no key. */
  number: number;
}

export function tagOf({ agent, session, subagent = '', identity, keyed, number }: TaggedRecord): Buffer {
  if (keyed) return Buffer.from(identity.subarray(0, TAG_BYTES));
  const text = Buffer.concat([Buffer.from(`${agent}\0${session}\0${subagent}\0${number}\0`), identity]);
  return hash('sha256', text, 'buffer').subarray(0, TAG_BYTES);
}

/** Ten bytes a record: with fifty events a batch, less than one in a hundred of what it sends. */
export function packTags(tags: readonly Tag[]): Buffer {
  const bytes = Buffer.alloc(tags.length * ENTRY_BYTES);
  tags.forEach(({ record, events }, index) => {
    record.copy(bytes, index * ENTRY_BYTES);
    bytes.writeUInt16LE(Math.min(events, MAX_EVENTS), index * ENTRY_BYTES + TAG_BYTES);
  });
  return bytes;
}

export function unpackTags(packed: Uint8Array): Tag[] {
  const bytes = Buffer.from(packed);
  return Array.from({ length: Math.floor(bytes.length / ENTRY_BYTES) }, (_, index) => {
    const start = index * ENTRY_BYTES;
    return {
      record: bytes.subarray(start, start + TAG_BYTES),
      events: bytes.readUInt16LE(start + TAG_BYTES),
    };
  });
}
