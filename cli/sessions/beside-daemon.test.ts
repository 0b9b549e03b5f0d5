import { expect, test, vi } from 'vitest';
import { setUpDaemon } from '../test/daemon.ts';
import { run } from '../test/program.ts';
import { sessionId } from '../test/transcripts.ts';

test('a session can be skipped beside a sending daemon, which continues with the others', async () => {
  const { start, say, service, home, texts, waitForTexts, status } = await setUpDaemon();
  say(1, 0, 'before');
  await start();
  await waitForTexts(1, ['before']);
  service.state.faults = { unavailable: 1 };
  say(1, 1, 'thrown away');
  say(2, 0, 'kept');
  await vi.waitFor(async () => expect(await status()).toMatchObject({ spooled: { events: 2 } }), { timeout: 60_000 });
  const skipped = await run(['skip', sessionId(1)], { home });
  expect(skipped).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Deleted 1 event') });
  service.state.faults = {};
  await waitForTexts(2, ['kept']);
  expect(texts(1)).toEqual(['before']);
});
