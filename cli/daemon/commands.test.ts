import { appendFileSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runProgram } from '../program.ts';
import { setUpDaemon } from '../test/daemon.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext, exitOf, run, start } from '../test/program.ts';
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

const LOG =
  '2026-11-21T12:00:00.000Z info Capturing for Acme.\n2026-11-21T12:00:01.000Z warn Bad \u001b[31mthing.\nodd\n';

test('the log is shown from the older file on, without terminal escapes', async () => {
  const home = makeFolder();
  expect(await run(['logs'], { home })).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: expect.stringContaining('nothing yet'),
  });
  write(join(home, 'state/daemon.log.1'), '2026-11-20T12:00:00.000Z info Stopped.\n');
  write(join(home, 'state/daemon.log'), LOG);
  const { stdout } = await run(['logs'], { home });
  expect(stdout.split('\n')).toEqual([
    '2026-11-20T12:00:00.000Z  info  Stopped.',
    '2026-11-21T12:00:00.000Z  info  Capturing for Acme.',
    '2026-11-21T12:00:01.000Z  warning  Bad thing.',
    'odd',
    '',
  ]);
  expect(JSON.parse((await run(['logs', '-n', '2', '--json'], { home })).stdout)).toEqual({
    lines: [{ time: '2026-11-21T12:00:01.000Z', level: 'warn', sentence: 'Bad \u001b[31mthing.' }, { sentence: 'odd' }],
  });
  expect(await run(['logs', '-n', 'x'], { home })).toMatchObject({ exitCode: 2 });
});

test('the log is followed, also into a new file, until asked to stop', async () => {
  const home = makeFolder();
  const path = write(join(home, 'state/daemon.log'), LOG);
  const stop = new AbortController();
  const { context, written } = createContext({ home, context: { stop: stop.signal } });
  const ended = runProgram(context, ['logs', '-f', '-n', '1']);
  onTestFinished(() => stop.abort());
  const shows = (text: string) => vi.waitFor(() => expect(written.stdout).toBe(text), { timeout: 5000 });
  await shows('odd\n');
  appendFileSync(path, '2026-11-21T12:00:02.000Z info half');
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(written.stdout).toBe('odd\n');
  appendFileSync(path, ' a line\n2026-11-21T12:00:03.000Z info last of the old\n');
  renameSync(path, `${path}.1`);
  write(path, '2026-11-21T12:00:04.000Z warn new\n');
  const info = (second: number, text: string) => `2026-11-21T12:00:0${second}.000Z  info  ${text}\n`;
  await shows(`odd\n${info(2, 'half a line')}${info(3, 'last of the old')}2026-11-21T12:00:04.000Z  warning  new\n`);
  rmSync(path);
  stop.abort();
  expect(await ended).toBe(0);
});

test('a log that is followed ends with Ctrl-C and success', async () => {
  const home = makeFolder();
  write(join(home, 'state/daemon.log'), LOG);
  const child = start(['logs', '-f', '--json'], { home });
  await vi.waitFor(() => expect(child.output()).toContain('"sentence":"odd"'), { timeout: 10_000 });
  child.kill('SIGINT');
  expect(await exitOf(child)).toEqual({ code: 0, signal: null });
});
