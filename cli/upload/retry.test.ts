import { expect, onTestFinished, test, vi } from 'vitest';
import { ServiceError } from '../../contract/client.ts';
import type { ProblemCode } from '../../contract/problem.ts';
import { createRetry } from './retry.ts';

/** Requests that are answered at once, and a clock that only moves while a retry waits. */
function setUp() {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  onTestFinished(() => clock.mockRestore());
  const waits: number[] = [];
  /** The state during each wait. */
  const states: { isFailing: boolean; ms: number }[] = [];
  const retry = createRetry({
    random: () => 1,
    signal: new AbortController().signal,
    async sleep(ms) {
      waits.push(ms);
      states.push({ isFailing: retry.isFailing(), ms: retry.failingMs() });
      time += ms;
    },
  });
  /** Fails this often, then succeeds. */
  const ask = (...failures: Error[]) =>
    retry.attempt(async () => {
      time += 1;
      const failure = failures.shift();
      if (failure) throw failure;
      return 'answer';
    });
  return { ...retry, ask, waits, states };
}

const refusal = (status: number, code: ProblemCode, retryAfter?: number) =>
  new ServiceError(status, { code }, { get: () => (retryAfter === undefined ? null : String(retryAfter)) });
const lost = () => new TypeError('fetch failed');

test.each([
  [429, 'rate_limited', 30, 30_250],
  [503, 'service_unavailable', 30, 30_250],
  [503, 'service_unavailable', 2_000_000, 900_250],
  [503, 'service_unavailable', 10 ** 12, 900_250],
  [503, 'service_unavailable', undefined, 250],
  [409, 'idempotency_in_progress', 2, 2000],
  [409, 'idempotency_in_progress', undefined, 1000],
] as const)('after %d %s with a wait of %s s, the retry waits %d ms', async (status, code, retryAfter, expected) => {
  const { ask, waits } = setUp();
  expect(await ask(refusal(status, code, retryAfter))).toBe('answer');
  expect(waits).toEqual([expected]);
});

test('repeated failures are retried after longer and longer waits, up to a limit', async () => {
  const { ask, waits } = setUp();
  await ask(lost(), lost(), lost(), lost(), lost(), lost());
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 4000]);
});

test('while the service is down, every request waits; a request that is in progress elsewhere delays no other', async () => {
  const { ask, waits } = setUp();
  await Promise.all([ask(refusal(503, 'service_unavailable', 30)), ask()]);
  expect(waits).toEqual([30_250]);
  await Promise.all([ask(refusal(409, 'idempotency_in_progress', 2)), ask()]);
  expect(waits).toEqual([30_250, 2000]);
});

test('an error that a retry cannot fix is thrown at once', async () => {
  const { ask, waits } = setUp();
  await expect(ask(refusal(403, 'environment_revoked'))).rejects.toThrow(ServiceError);
  expect(waits).toEqual([]);
});

test('the failing time counts from the first unanswered request, and not from a rate limit', async () => {
  const { ask, states, failingMs, isFailing } = setUp();
  await ask(lost(), lost());
  expect(states).toEqual([
    { isFailing: true, ms: 1 },
    { isFailing: true, ms: 252 },
  ]);
  expect([isFailing(), failingMs()]).toEqual([false, 0]);
  await ask(refusal(429, 'rate_limited', 30));
  expect(states.at(-1)).toEqual({ isFailing: false, ms: 0 });
});

test('a service that reports a request in progress is reached', async () => {
  const { ask, states } = setUp();
  await ask(refusal(409, 'idempotency_in_progress', 20), refusal(409, 'idempotency_in_progress', 20));
  expect(states).toEqual([
    { isFailing: false, ms: 0 },
    { isFailing: false, ms: 0 },
  ]);
});
