import { expect, test, vi } from 'vitest';
import { createLive } from './live.ts';

test('a stream that reconnects again and again does not leak listeners', async () => {
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

/** A stream that opens on request and stays open until it is aborted. */
function createStream() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let isOffline = false;
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    if (isOffline) throw new TypeError('Failed to fetch');
    await opened;
    const body = new ReadableStream({
      start: (controller) => init?.signal?.addEventListener('abort', () => controller.error(new Error('aborted'))),
    });
    return new Response(body);
  };
  const goOffline = () => {
    isOffline = true;
    window.dispatchEvent(new Event('offline'));
  };
  return { fetch: fetch as typeof globalThis.fetch, open, goOffline };
}

test.each(['does not begin to answer', 'is open while the machine goes offline'])(
  'a stream that %s counts as lost after a few seconds',
  async (what) => {
    vi.useFakeTimers();
    const stream = createStream();
    const live = createLive(stream.fetch);
    const stop = live.onChange(() => undefined);
    try {
      if (what === 'does not begin to answer') {
        await vi.advanceTimersByTimeAsync(4_000);
        expect(live.state()).toBe('connecting');
        await vi.advanceTimersByTimeAsync(2_000);
        expect(live.state()).toBe('lost');
      }
      stream.open();
      await vi.advanceTimersByTimeAsync(10);
      expect(live.state()).toBe('open');
      stream.goOffline();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(live.state()).toBe('lost');
    } finally {
      stop();
      await vi.advanceTimersByTimeAsync(2_000);
      vi.useRealTimers();
    }
  },
);
