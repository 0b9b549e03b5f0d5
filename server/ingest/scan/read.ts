import { hash } from 'node:crypto';
import { Problem, type ProblemBody } from '../../../contract/problem.ts';
import { type ScannedAppend, scanAppend } from './append.ts';

/** The content of an append's body, as views into it. */
export interface ReadAppend extends ScannedAppend {
  body: Uint8Array;
  /** SHA-256 of the body in hexadecimal, which identifies a repeated request. */
  fingerprint: string;
}

/** Why a body is refused, in a form that can be sent between threads. */
export interface RefusedAppend {
  problem: ProblemBody;
}

/** Reads each body separately: a refused body does not affect the others. */
export const readAppends = (bodies: readonly Buffer[]): (ReadAppend | RefusedAppend)[] => bodies.map(readAppend);

function readAppend(body: Buffer): ReadAppend | RefusedAppend {
  try {
    return { ...scanAppend(body), body, fingerprint: hash('sha256', body) };
  } catch (error) {
    if (error instanceof Problem) return { problem: error.toBody() };
    throw error;
  }
}

/** Bodies for the thread that reads large ones. */
export interface ScanJob {
  bodies: readonly Uint8Array<ArrayBuffer>[];
}

export type ScanReply = { answer: (ReadAppend | RefusedAppend)[] } | { error: string };
