import { expect, test, vi } from 'vitest';
import { setUpDaemon } from '../test/daemon.ts';
import { run } from '../test/program.ts';
import { sessionId } from '../test/transcripts.ts';

test('what waits can be dropped beside a daemon that sends, which goes on with what comes', async () => {
  const { start, say, service, home, waitForTexts, status } = await setUpDaemon();
  say(1, 0, 'before');
  await start();
  await waitForTexts(1, ['before']);
  service.state.faults = { unavailable: 1 };
  say(1, 1, 'dropped');
  say(2, 0, 'kept');
  await vi.waitFor(async () => expect(await status()).toMatchObject({ spooled: { events: 2 } }), { timeout: 10_000 });
  const dropped = await run(['spool', 'drop', sessionId(1), '--yes'], { home });
  expect(dropped).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Dropped: 1 waiting event') });
  expect(dropped.stderr).toContain('The daemon was sending meanwhile');
  say(1, 2, 'after');
  service.state.faults = {};
  await waitForTexts(2, ['kept']);
  await waitForTexts(1, ['before', 'after']);
});
