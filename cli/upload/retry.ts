import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../../contract/client.ts';
import { describe } from '../failure.ts';
import { hasCode, hasStatus, isTemporary } from './problem.ts';

export interface RetryOptions {
  random: () => number;
  signal: AbortSignal;
  /** Told of each failure that will be tried again. */
  onTrouble?: (sentence: string) => void;
  sleep?: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<void>;
}

export type Retry = ReturnType<typeof createRetry>;

const BASE_MS = 250;
/** A service that is back is found within this. */
const CAP_MS = 4000;
/** Whatever a service asks for: a mistake of it must not silence a machine for days. */
const LONGEST_WAIT_MS = 15 * 60 * 1000;

/** Repeats requests until they are answered. While the service is down all of them wait for the same time to pass. */
export function createRetry({ random, signal, onTrouble, sleep = setTimeout }: RetryOptions) {
  let failures = 0;
  let closedUntil = 0;
  let lastTrouble: string | undefined;
  let isFailing = false;
  /** Requests that are under way. */
  let pending = 0;
  /** The beginning of the first request since the last answer. */
  let unansweredSince: number | undefined;

  function waitAfter(error: unknown): void {
    const asked = error instanceof ServiceError ? askedFor(error, 0) : 0;
    // Jitter on top of the wait, lest all clients return at once.
    const wait = asked > 0 ? asked + random() * BASE_MS : random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);
    closedUntil = Math.max(closedUntil, performance.now() + wait);
    failures = Math.min(failures + 1, 16);
    // Told to slow down, it is reachable all the same.
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

  /** `mustRepeat` says after which failures. */
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
        // Only this request is in progress elsewhere: the others need not wait.
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
    /** For how long requests have failed or had no answer, in milliseconds. */
    failingMs: (): number => (unansweredSince === undefined ? 0 : performance.now() - unansweredSince),
    /** Whether the last request failed, and is tried again. */
    isFailing: () => isFailing,
    lastTrouble: () => lastTrouble,
  };
}

/** Milliseconds that a service asks to wait, or these seconds where it does not say; a quarter of an hour at most. */
const askedFor = ({ retryAfter }: ServiceError, otherwise: number): number =>
  Math.min((retryAfter ?? otherwise) * 1000, LONGEST_WAIT_MS);
