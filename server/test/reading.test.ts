import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBodyScanner } from '../ingest/reading.ts';
import { SLICE_BYTES } from '../work.ts';

const SENDER = { group: 'org', person: 'sec', signal: undefined };

/** An append that is large enough to be read on another thread. */
const large = (eventType: string) =>
  Buffer.from(`{"events":[{"eventType":"${eventType}"}],"more":"${'x'.repeat(SLICE_BYTES)}"}`);

describe('large bodies', () => {
  afterEach(() => void vi.useRealTimers());

  test('that arrive while an idle thread ends are read by the next thread', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const reading = createBodyScanner();
    const typeOf = async (eventType: string) => {
      const [read] = await reading.read([large(eventType)], SENDER);
      return read && 'events' in read ? read.events[0]?.eventType : undefined;
    };
    expect(await typeOf('first')).toBe('first');
    vi.advanceTimersByTime(60_000);
    const second = typeOf('second').catch(() => 'refused');
    const third = second.then(() => typeOf('third'));
    expect([await second, await third]).toEqual(['second', 'third']);
    await reading.close();
  });

  test('that wait are limited to 128 MiB, and finished bodies free their share', async () => {
    const reading = createBodyScanner();
    const body = () => Buffer.alloc(12 * 1024 * 1024, ' ');
    const refused = [{ problem: expect.objectContaining({ code: 'malformed_json' }) }];
    const all = await Promise.allSettled(Array.from({ length: 12 }, async () => reading.read([body()], SENDER)));
    const [read, turnedAway] = [all.slice(0, 10), all.slice(10)];
    expect(read).toEqual(read.map(() => ({ status: 'fulfilled', value: refused })));
    for (const one of turnedAway) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } });
    }
    expect(await reading.read([body()], SENDER)).toEqual(refused);
    await reading.close();
  });
});
