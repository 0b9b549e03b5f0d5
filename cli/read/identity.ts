import { hash } from 'node:crypto';

/** What a record is recognised by when it is met again, of its key or its text; 16 bytes. */
export type Identify = (of: string | Uint8Array) => Buffer;

/** Keyed, so that nobody who finds the spool can test a guess of what a transcript said before it was masked. */
export function createIdentify(key: Uint8Array): Identify {
  const toIdentity = withKey(key);
  return (of) => toIdentity(plainIdentity(of));
}

/** An identity out of one that was made without a key, as spools had them before. */
export const withKey =
  (key: Uint8Array) =>
  (plain: Uint8Array): Buffer =>
    hash('sha256', Buffer.concat([key, plain]), 'buffer').subarray(0, 16);

const plainIdentity = (of: string | Uint8Array) => hash('sha256', of, 'buffer').subarray(0, 16);
