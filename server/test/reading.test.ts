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
});
