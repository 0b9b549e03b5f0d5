import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LiveChange } from '../../contract/extensions.ts';
import { createLive, type Live, type Watcher } from '../ingest/live.ts';

/** A stream's own buffer, of Node's default size, and a message that fills it. */
const MAX_BUFFERED = 64 * 1024 + 200;
const NOW = Date.parse('2026-11-21T09:00:00.000Z');
const MINUTE = 60_000;

describe('a live stream', () => {
  let live: Live;
  beforeEach(() => {
    live = createLive(() => Date.now(), {
      ask: (_, told) => told({ visibility: 'team', user_id: null, content_expired_at: null }),
      forget: () => undefined,
    });
  });
  afterEach(() => {
    live.close();
    vi.useRealTimers();
  });

  function watch(watcher: Partial<Watcher> = {}): Readable {
    const signal = new AbortController().signal;
    return live.watch({
      organizationId: 'org',
      userId: 'usr',
      seesAll: false,
      signal,
      until: Number.POSITIVE_INFINITY,
      ...watcher,
    });
  }

  const change = (sessionId: string, eventCount: number, status: LiveChange['status'] = 'active') =>
    live.publish('org', { sessionId, eventCount, status });

  const messagesOf = (text: string): LiveChange[] =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data)));

  function read(stream: Readable): LiveChange[] {
    let text = '';
    for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += chunk;
    return messagesOf(text);
  }

  /** Resolves when the stream ends by itself. */
  const isEnded = (stream: Readable) => new Promise<void>((resolve) => void stream.once('end', resolve).resume());

  test('sends the states of a session in their true order, even if they arrive in another', () => {
    const stream = watch();
    change('ses_a', 2);
    expect(read(stream)).toEqual([{ sessionId: 'ses_a', eventCount: 2, status: 'active' }]);
    change('ses_a', 3, 'completed');
    change('ses_a', 1);
    change('ses_a', 4);
    expect(read(stream)).toMatchObject([
      { eventCount: 3, status: 'completed' },
      { eventCount: 3, status: 'completed' },
      { eventCount: 4, status: 'completed' },
    ]);
    const later = watch();
    change('ses_a', 4);
    expect(read(later)).toMatchObject([{ eventCount: 4, status: 'completed' }]);
  });

  test('announces a deleted session, whatever states came before or arrive late', () => {
    const stream = watch();
    const told = (['completed', 'deleted', 'completed', 'active'] as const).map((status) => {
      change('ses_a', 3, status);
      return read(stream)[0]?.status;
    });
    expect(told).toEqual(['completed', 'deleted', 'deleted', 'deleted']);
  });

  test('remembers the states of many sessions, but not of an unlimited number', () => {
    const stream = watch({ sessionId: 'ses_a' });
    change('ses_a', 3, 'completed');
    for (let index = 0; index < 9_000; index++) change(`ses_${index}`, 1);
    change('ses_a', 2);
    expect(read(stream).at(-1)).toMatchObject({ eventCount: 3, status: 'completed' });
    for (let index = 0; index < 10_000; index++) change(`ses_${index}`, 1);
    change('ses_a', 2);
    expect(read(stream)).toMatchObject([{ eventCount: 2, status: 'active' }]);
  });

  test('without a reader holds one change of each session beside its buffer', () => {
    const stream = watch();
    stream.read(0);
    for (let count = 1; count <= 20_000; count++)
      for (let session = 0; session < 10; session++) change(`ses_${session}`, count);
    expect(stream.readableLength).toBeLessThan(MAX_BUFFERED);
    const messages = read(stream);
    const buffered = messages.slice(0, -10);
    expect(Buffer.byteLength(buffered.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(''))).toBeLessThan(
      MAX_BUFFERED,
    );
    expect(messages.slice(-10).map(({ eventCount }) => eventCount)).toEqual(Array(10).fill(20_000));
  });

  test('that is too far behind ends, so that its reader starts again', async () => {
    const stream = watch();
    for (let session = 0; session < 3_000; session++) change(`ses_${session}`, 1);
    await isEnded(stream);
    expect(stream.readableEnded).toBe(true);
  });

  test('leaves nothing behind when its reader disconnects at any moment', () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const open = Array.from({ length: 200 }, (_, index) => {
      const controller = new AbortController();
      if (index % 4 === 0) controller.abort();
      const stream = watch({ signal: controller.signal, userId: `usr_${index % 10}` });
      if (index % 4 === 1) controller.abort();
      if (index % 4 === 2) stream.destroy();
      return { stream, controller };
    });
    expect(timers() - before).toBe(2 * 50);
    for (const { controller } of open) controller.abort();
    expect(timers()).toBe(before);
    for (const { stream } of open) read(stream);
    change('ses_a', 1);
    for (const { stream } of open) expect(read(stream)).toEqual([]);
  });

  test('is one of thirty that a person may have, and takes no place of other people', () => {
    const controller = new AbortController();
    watch({ signal: controller.signal });
    for (let count = 1; count < 30; count++) watch();
    expect(watch({ userId: 'another' })).toBeDefined();
    const refused = expect.objectContaining({ status: 429, code: 'rate_limited', retryAfter: 30 });
    expect(() => watch()).toThrow(refused);
    controller.abort();
    expect(watch()).toBeDefined();
    expect(() => watch()).toThrow(refused);
  });

  test.each([
    ['when the token that opened it expires', 4 * MINUTE, 4 * MINUTE],
    ['after a quarter of an hour with a longer token', 60 * MINUTE, 15 * MINUTE],
    ['after a quarter of an hour with a token that never expires', Number.POSITIVE_INFINITY, 15 * MINUTE],
    ['at once with a token that has expired in the meantime', -1, 0],
  ])('ends %s', async (_, lasts, expected) => {
    vi.useFakeTimers({ now: NOW, toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
    const stream = watch({ until: NOW + lasts });
    const ended = isEnded(stream).then(() => Date.now() - NOW);
    if (expected > 0) await vi.advanceTimersByTimeAsync(expected - 1);
    expect(stream.readableEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await ended).toBeLessThanOrEqual(expected + 1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('sends a heartbeat at intervals', async () => {
    vi.useFakeTimers({ now: NOW, toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
    let text = '';
    watch().on('data', (chunk: Buffer) => {
      text += chunk;
    });
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(text.match(/^: still here$/gm)).toHaveLength(4);
  });

  test('ends when the service closes, and none starts after that', async () => {
    const before = watch();
    live.close();
    await Promise.all([isEnded(before), isEnded(watch())]);
  });
});
