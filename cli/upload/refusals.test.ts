import { expect, test, vi } from 'vitest';
import { setUpDaemon } from '../test/daemon.ts';
import { sessionId } from '../test/transcripts.ts';

test('an event refused before any success waits, and is set aside once the service accepts something else', async () => {
  const { start, say, service, status, texts, waitForTexts } = await setUpDaemon({
    service: { refuses: ({ payload }) => (payload.source as { session: string }).session === sessionId(1) },
    // No heartbeat causes a retry during the test.
    timing: { heartbeatMs: 60_000 },
  });
  const countAppends = () => service.state.requests.filter((request) => request.endsWith('/appends')).length;
  say(1, 0, 'bad');
  await start();
  await vi.waitFor(() => expect(countAppends()).toBeGreaterThan(0), 10_000);
  expect(await status()).toMatchObject({ counters: { eventsRefused: 0 }, spooled: { batches: 1 } });
  say(2, 0, 'fine');
  await waitForTexts(2, ['fine']);
  await vi.waitFor(async () => expect(await status()).toMatchObject({ spooled: { batches: 0 } }), 10_000);
  expect((await status()).counters).toMatchObject({ eventsRefused: expect.toSatisfy((count: number) => count > 0) });
  expect(texts(1)).toEqual([]);
});
