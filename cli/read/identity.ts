import { hash } from 'node:crypto';

/** What a record is recognised by when it is met again, of its key or its text; 16 bytes. */
export type RecordHash = (of: string | Uint8Array) => Buffer;

const LENGTH = 16;

/** As a string: a buffer of its own for each hash takes the engine longer than the hash does. */
const digest = (of: string | Uint8Array) => hash('sha256', of, 'binary').slice(0, LENGTH);

/** Keyed, so that nobody who finds the spool can test a guess of a transcript's text from before masking. */
export function createRecordHash(key: Uint8Array): RecordHash {
  const keyed = Buffer.concat([key, Buffer.alloc(LENGTH)]);
  return (of) => {
    keyed.write(digest(of), key.length, 'latin1');
    return Buffer.from(digest(keyed), 'latin1');
  };
}
