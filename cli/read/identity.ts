import { hash } from 'node:crypto';

/** Hashes a record's key or its text, so that capture recognises the record when it meets it again; 16 bytes. */
export type RecordHash = (of: string | Uint8Array) => Buffer;

const LENGTH = 16;

/** The hash is a string, because allocating a buffer for each hash takes the engine longer than hashing. */
const digest = (of: string | Uint8Array) => hash('sha256', of, 'binary').slice(0, LENGTH);

/** The hash is keyed, so that nobody who finds the spool can test a guess of an unmasked transcript text. */
export function createRecordHash(key: Uint8Array): RecordHash {
  const keyed = Buffer.concat([key, Buffer.alloc(LENGTH)]);
  return (of) => {
    keyed.write(digest(of), key.length, 'latin1');
    return Buffer.from(digest(keyed), 'latin1');
  };
}
