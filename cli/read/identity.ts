import { hash } from 'node:crypto';

/** What a record is recognised by when it is met again, of its key or its text; 16 bytes. */
export type Identify = (of: string | Uint8Array) => Buffer;

const digest = (of: string | Uint8Array) => hash('sha256', of, 'buffer').subarray(0, 16);

/** Keyed, so that nobody who finds the spool can test a guess of what a transcript said before it was masked. */
export const createIdentify =
  (key: Uint8Array): Identify =>
  (of) =>
    digest(Buffer.concat([key, digest(of)]));
