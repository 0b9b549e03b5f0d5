import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../../contract/client.ts';
import { describe } from '../failure.ts';
import { hasCode, hasStatus, isTemporary } from './problem.ts';

export interface RetryOptions {
  random: () => number;
  signal: AbortSignal;
  /** Called for each failure that is retried. */
  onTrouble?: (sentence: string) => void;
  sleep?: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<void>;
}

export type Retry = ReturnType<typeof createRetry>;

const BASE_MS = 250;
/** The longest wait between tries, so that a service that is back is found within this time. */
const CAP_MS = 4000;
/** The longest wait that a service can ask for: its mistake must not silence a machine for days. */
const MAX_WAIT_MS = 15 * 60 * 1000;

/** Repeats requests until they are answered. While the service is down, all requests wait together. */
export function createRetry({ random, signal, onTrouble, sleep = setTimeout }: RetryOptions) {
  let failures = 0;
  let closedUntil = 0;
  let lastTrouble: string | undefined;
  let isFailing = false;
  /** The number of requests in progress. */
  let pending = 0;
  /** When the first request since the last answer began. */
  let unansweredSince: number | undefined;

  function waitAfter(error: unknown): void {
    const asked = error instanceof ServiceError ? askedFor(error, 0) : 0;
    // Jitter on top of the wait keeps all clients from returning at once.
    const wait = asked > 0 ? asked + random() * BASE_MS : random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);
    closedUntil = Math.max(closedUntil, performance.now() + wait);
    failures = Math.min(failures + 1, 16);
    // A service that asks clients to slow down is reachable.
    if (hasStatus(error, 429)) hear();
    else isFailing = true;
    lastTrouble = describe(error);
    onTrouble?.(lastTrouble);
  }

  /** The service was reached. */
  function hear(): void {
    isFailing = false;
    unansweredSince = pending > 1 ? performance.now() : undefined;
  }

  async function wait(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal });
  }

  /** `mustRepeat` decides which failures are retried. */
  async function attempt<Result>(request: () => Promise<Result>, mustRepeat = isTemporary): Promise<Result> {
    for (;;) {
      while (closedUntil > performance.now()) await wait(closedUntil - performance.now());
      signal.throwIfAborted();
      pending++;
      unansweredSince ??= performance.now();
      try {
        const result = await request();
        succeed();
        return result;
      } catch (error) {
        if (!mustRepeat(error)) {
          succeed();
          throw error;
        }
        // Only this request is in progress elsewhere, so the others need not wait.
        if (hasCode(error, 'idempotency_in_progress')) {
          hear();
          await wait(askedFor(error, 1));
        } else waitAfter(error);
      } finally {
        pending--;
      }
    }
  }

  function succeed(): void {
    failures = 0;
    hear();
  }

  return {
    attempt,
    /** How long requests have failed or had no answer, in milliseconds. */
    failingMs: (): number => (unansweredSince === undefined ? 0 : performance.now() - unansweredSince),
    /** Whether the last request failed and is tried again. */
    isFailing: () => isFailing,
    lastTrouble: () => lastTrouble,
  };
}

/** How long a service asks to wait, in milliseconds, or these seconds if it does not say. At most a quarter of an hour. */
const askedFor = ({ retryAfter }: ServiceError, otherwise: number): number =>
  Math.min((retryAfter ?? otherwise) * 1000, MAX_WAIT_MS);
