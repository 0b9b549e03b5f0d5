import { hash } from 'node:crypto';
import { MAX_BATCHES_AT_ONCE } from '../../../contract/capture.ts';
import type { ProblemBody } from '../../../contract/problem.ts';
import { type ScannedAppend, scanAppend } from './append.ts';
import { type ScannedBatch, scanBulk } from './bulk.ts';

/** What a body says, with views into it. */
export interface ReadAppend extends ScannedAppend {
  body: Uint8Array;
  /** SHA-256 of the body in hexadecimal, by which a repeated request is known. */
  fingerprint: string;
}

export interface ReadBatch extends ScannedBatch {
  /** Of the batch's own body: the one it would have if it were sent by itself. */
  fingerprint: string;
}

/** How each kind of body is read, on whichever thread. */
export const READERS = {
  append: (body: Buffer): ReadAppend => ({ ...scanAppend(body), body, fingerprint: hash('sha256', body) }),
  bulk: (body: Buffer): ReadBatch[] =>
    scanBulk(body, MAX_BATCHES_AT_ONCE).map((batch) => ({ ...batch, fingerprint: hash('sha256', batch.bytes) })),
};

export type Readers = typeof READERS;

export interface ScanJob {
  kind: keyof Readers;
  body: Uint8Array<ArrayBuffer>;
}

export type ScanReply = { answer: unknown } | { problem: ProblemBody } | { error: string };
