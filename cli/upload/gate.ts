import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../contract/client.ts';
import { describe } from '../failure.ts';
import { hasCode, hasStatus, isTemporary } from './problem.ts';

export interface GateOptions {
  random: () => number;
  signal: AbortSignal;
  /** Told of each failure that will be tried again. */
  onTrouble?: (sentence: string) => void;
  baseMs?: number;
  capMs?: number;
}

export type Gate = ReturnType<typeof createGate>;

const BASE_MS = 500;
const CAP_MS = 60_000;

/**
 * Repeats requests until they are answered. All requests to a service wait at one gate: while it is down, one of them
 * finds out, not each for itself.
 */
export function createGate({ random, signal, onTrouble, baseMs = BASE_MS, capMs = CAP_MS }: GateOptions) {
  let failures = 0;
  let closedUntil = 0;
  let failingSince: number | undefined;
  let lastTrouble: string | undefined;
  let patience = new AbortController();

  function close(error: unknown): void {
    const backoff = random() * Math.min(capMs, baseMs * 2 ** failures);
    const asked = error instanceof ServiceError ? (error.retryAfter ?? 0) * 1000 : 0;
    // Jitter on top of what was asked for, lest all clients come back at once.
    const wait = asked > 0 ? asked + random() * baseMs : backoff;
    closedUntil = Math.max(closedUntil, performance.now() + wait);
    failures = Math.min(failures + 1, 16);
    // Told to slow down, it is reachable all the same.
    if (hasStatus(error, 429)) failingSince = undefined;
    else failingSince ??= performance.now();
    lastTrouble = describe(error);
    onTrouble?.(lastTrouble);
  }

  /** Ends early when there is reason to try again at once. */
  async function wait(ms: number): Promise<void> {
    if (ms <= 0) return;
    const impatience = patience.signal;
    try {
      await sleep(ms, undefined, { signal: AbortSignal.any([signal, impatience]) });
    } catch (error) {
      if (signal.aborted || !impatience.aborted) throw error;
    }
  }

  async function attempt<Result>(request: () => Promise<Result>): Promise<Result> {
    for (;;) {
      while (closedUntil > performance.now()) await wait(closedUntil - performance.now());
      signal.throwIfAborted();
      try {
        const result = await request();
        open();
        return result;
      } catch (error) {
        if (!isTemporary(error)) {
          open();
          throw error;
        }
        // Only this request is in progress elsewhere: the others need not wait.
        if (hasCode(error, 'idempotency_in_progress')) await wait((error.retryAfter ?? 1) * 1000);
        else close(error);
      }
    }
  }

  function open(): void {
    failures = 0;
    failingSince = undefined;
  }

  return {
    attempt,
    /** What was waited for may be over: the network has changed, or the machine has slept. */
    retryNow(): void {
      closedUntil = 0;
      failures = 0;
      patience.abort();
      patience = new AbortController();
    },
    /** For how long every answer has been a failure. */
    failingMs: () => (failingSince === undefined ? 0 : performance.now() - failingSince),
    lastTrouble: () => lastTrouble,
  };
}
