import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { setUpDaemon } from '../test/daemon.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { isPaused } from './pause.ts';

test('a pause is what the daemon reads, ends by itself or by resume, and loses nothing', async () => {
  const { start: startDaemon, home, say, texts, waitForTexts, state } = await setUpDaemon();
  say(1, 0, 'before');
  await startDaemon();
  await waitForTexts(1, ['before']);
  expect(JSON.parse((await run(['pause', '--json'], { home })).stdout)).toMatchObject({ paused: true });
  await vi.waitFor(() => expect(readFileSync(join(state, 'daemon.log'), 'utf8')).toContain('Paused'));
  say(1, 1, 'during');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(texts(1)).toEqual(['before']);
  expect(await run(['resume'], { home })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('The pause is over.'),
  });
  await waitForTexts(1, ['before', 'during']);
});

test('a pause with an end says when that is', async () => {
  const home = makeFolder();
  const now = Date.parse('2026-11-21T12:00:00Z');
  const at = (ms: number) => ({ home, context: { now: () => now + ms } });
  const { stdout } = await run(['pause', '--for', '90m'], at(0));
  expect(stdout).toMatch(/^Paused for 90 minutes, until 2026-11-21 13:30 UTC\. .*\nThe daemon does not run/);
  expect(isPaused(join(home, 'state'), now + 89 * 60_000)).toBe(true);
  expect(isPaused(join(home, 'state'), now + 90 * 60_000)).toBe(false);
  expect(JSON.parse((await run(['resume', '--json'], at(0))).stdout)).toEqual({
    paused: false,
    wasPaused: true,
    running: false,
  });
  expect(JSON.parse((await run(['resume', '--json'], at(0))).stdout)).toMatchObject({ wasPaused: false });
  expect(await run(['pause', '--for', '10s'], at(0))).toMatchObject({ exitCode: 0 });
  expect(isPaused(join(home, 'state'), now + 10_000)).toBe(false);
  for (const text of ['2', '0h', 'h', '2y', '-1h']) {
    expect(await run(['pause', '--for', text], at(0))).toMatchObject({ exitCode: 2 });
  }
});

test('the latest lines of the log are shown, also of the older file, without terminal escapes', async () => {
  const home = makeFolder();
  const said = expect.stringContaining('nothing yet');
  expect(await run(['logs'], { home })).toMatchObject({ exitCode: 0, stdout: '', stderr: said });
  write(join(home, 'state/daemon.log.1'), '2026-11-20T12:00:00.000Z info Stopped.\n');
  const path = write(join(home, 'state/daemon.log'), '2026-11-21T12:00:01.000Z warn Bad \u001b[31mthing.\nodd\n');
  expect(await run(['logs'], { home })).toMatchObject({
    stdout: '2026-11-20T12:00:00.000Z info Stopped.\n2026-11-21T12:00:01.000Z warn Bad thing.\nodd\n',
    stderr: `From ${path}\n`,
  });
  write(path, 'line\n'.repeat(60));
  const { lines } = JSON.parse((await run(['logs', '--json'], { home })).stdout);
  expect(lines).toEqual(Array(50).fill('line'));
});
