import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { ServiceError } from '../../contract/client.ts';
import { createRetry } from './retry.ts';

vi.mock('node:timers/promises', () => ({
  setTimeout: vi.fn(async (ms: number) => vi.advanceTimersByTime(ms)),
}));

afterEach(() => vi.useRealTimers());

/** How long it waits in all, in milliseconds, before a request that was refused once is tried again. */
async function waitedFor(error: ServiceError): Promise<number> {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  vi.mocked(sleep).mockClear();
  const { attempt } = createRetry({ random: () => 0, signal: new AbortController().signal });
  const answers = [() => Promise.reject(error), () => Promise.resolve('taken')];
  expect(await attempt(() => answers.shift()?.() ?? Promise.reject(new Error('asked too often')))).toBe('taken');
  return vi.mocked(sleep).mock.calls.reduce((sum, [ms]) => sum + (ms ?? 0), 0);
}

test.each([
  [429, 'rate_limited', 30, 30_000],
  [503, 'service_unavailable', 2_000_000, 900_000],
  [429, 'rate_limited', 10 ** 12, 900_000],
  [409, 'idempotency_in_progress', 2, 2000],
  [409, 'idempotency_in_progress', 2_000_000, 900_000],
] as const)('a %s (%s) that asks for %d s is waited for %d ms, a quarter of an hour at most', async (...row) => {
  const [status, code, seconds, expected] = row;
  const headers = new Headers({ 'retry-after': String(seconds) });
  expect(await waitedFor(new ServiceError(status, { error: 'later', code }, headers))).toBe(expected);
});
