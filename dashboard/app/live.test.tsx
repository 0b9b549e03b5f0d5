import { expect, test, vi } from 'vitest';
import { createLive } from './live.ts';

test('a stream that is tried again and again leaves no listener behind for each try', async () => {
  vi.useFakeTimers();
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
  const unavailable = vi.fn(async () => new Response(null, { status: 503 }));
  const stop = createLive(unavailable as typeof fetch).onChange(() => undefined);
  try {
    await vi.advanceTimersByTimeAsync(120_000);
    expect(unavailable.mock.calls.length).toBeGreaterThan(5);
    expect(added.mock.calls.length - removed.mock.calls.length).toBe(1);
  } finally {
    stop();
    await vi.advanceTimersByTimeAsync(2_000);
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
});
