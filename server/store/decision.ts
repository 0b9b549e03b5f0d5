import type { Settled } from './appends.ts';

/** An append that was accepted under a key. */
export interface KnownAppend {
  firstSequence: number;
  lastSequence: number;
  fingerprint: string | null;
}

/** A session as its log knows it. */
export interface LogHead {
  isOpen: boolean;
  /** Events that were given a number. */
  eventCount: number;
}

/** What a log knows when a batch comes in: the append with its key, and the session it is for. */
export interface Seen {
  known: KnownAppend | undefined;
  head: LogHead | undefined;
}

/**
 * Settles an append, for every log alike: a repeated one has its earlier answer even after the session was closed, one
 * that is new goes behind the last event, if that is the one it expects.
 */
export function decide(
  { known, head }: Seen,
  batch: { count: number; fingerprint: string | null; expectedEvents?: number | undefined },
): Settled {
  if (known) {
    if (known.fingerprint !== batch.fingerprint) return { refused: 'idempotency_key_reused' };
    return { firstSequence: known.firstSequence, lastSequence: known.lastSequence, replayed: true };
  }
  if (!head) return { refused: 'not_found' };
  if (!head.isOpen) return { refused: 'session_closed' };
  const { eventCount } = head;
  if ((batch.expectedEvents ?? eventCount) !== eventCount) return { refused: 'sequence_mismatch', eventCount };
  return { firstSequence: eventCount + 1, lastSequence: eventCount + batch.count, replayed: false };
}
