import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';

/** A batch of events on its way into the store. */
export interface Batch {
  /** Batches of one sender keep their order; senders take turns. */
  sender: string;
  organizationId: string;
  plane: Plane;
  sessionId: string;
  idempotencyKey: string | null;
  /** SHA-256 of the request body in hexadecimal; null without a key. */
  fingerprint: string | null;
  /** Events. */
  count: number;
  /** How many events the session is to have before it; undefined: any. */
  expectedEvents?: number | undefined;
  appendId: string;
  codec: number;
  /** In memory of its own, which is handed over. */
  body: Uint8Array<ArrayBuffer>;
  /** Milliseconds since the epoch. */
  now: number;
}

export interface Outcome {
  firstSequence: number;
  lastSequence: number;
  /** The answer to an earlier append with the same key and body. */
  replayed: boolean;
}

/** How an engine settles a batch: stored, refused for what it is, or failed by itself. Plain data: it crosses threads. */
export type Settled =
  | Outcome
  | { refused: 'idempotency_key_reused' | 'not_found' | 'session_closed' }
  | { refused: 'sequence_mismatch'; eventCount: number }
  | { failed: string };

/** The session has other events than whoever appends to it knows of. */
export class SequenceMismatch extends Problem {
  /** How many it has. */
  readonly eventCount: number;

  constructor(eventCount: number) {
    super('sequence_mismatch', SENTENCES.sequence_mismatch);
    this.eventCount = eventCount;
  }
}

/** Stores a batch; resolves once it is durable. */
export type StoreAppend = (batch: Batch) => Promise<Outcome>;

const SENTENCES = {
  idempotency_key_reused:
    'This idempotency key was used with another body. Send the same bytes again, or use a new key for new events.',
  not_found: 'No such session in this organization and plane.',
  session_closed: 'The session is closed. Open a new one for further events.',
  sequence_mismatch:
    'The session has other events than expected. Look at those that you do not know, and send the rest.',
} as const;

/** @throws Problem `idempotency_key_reused`, `not_found`, `session_closed`, `sequence_mismatch`; Error for what must not happen */
export function outcomeOf(settled: Settled): Outcome {
  if ('eventCount' in settled) throw new SequenceMismatch(settled.eventCount);
  if ('refused' in settled) throw new Problem(settled.refused, SENTENCES[settled.refused]);
  if ('failed' in settled) throw new Error(`the store took no such append: ${settled.failed}`);
  return settled;
}
