import { afterEach, describe, expect, test, vi } from 'vitest';
import { createReading } from '../ingest/reading.ts';
import { HEAVY_BYTES } from '../turns.ts';

/** An append that is read on another thread. */
const large = (eventType: string) =>
  Buffer.from(`{"events":[{"eventType":"${eventType}"}],"more":"${'x'.repeat(HEAVY_BYTES)}"}`);

describe('large bodies', () => {
  afterEach(() => void vi.useRealTimers());

  test('that come while an idle thread ends are read by the next one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const reading = createReading();
    const typeOf = async (eventType: string) => (await reading.read('append', large(eventType))).events[0]?.eventType;
    expect(await typeOf('first')).toBe('first');
    vi.advanceTimersByTime(60_000);
    const second = typeOf('second').catch(() => 'refused');
    const third = second.then(() => typeOf('third'));
    expect([await second, await third]).toEqual(['second', 'third']);
    await reading.close();
  });

  test('that wait are at most 128 MiB, whoever has left meanwhile', async () => {
    const reading = createReading();
    const body = () => Buffer.alloc(12 * 1024 * 1024, ' ');
    const all = await Promise.allSettled(Array.from({ length: 12 }, async () => reading.read('append', body())));
    const codes = all.map((one) => one.status === 'rejected' && (one.reason as { code: string }).code);
    expect(codes.filter((code) => code === 'malformed_json')).toHaveLength(10);
    expect(codes.filter((code) => code === 'service_unavailable')).toHaveLength(2);
    await expect(async () => reading.read('append', body())).rejects.toMatchObject({ code: 'malformed_json' });
    await reading.close();
  });
});
