import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isDaemonRunning } from '../daemon/control.ts';
import { makeFolder, write } from './folder.ts';
import { exitOf, run, start } from './program.ts';
import { startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 20 });

async function startDaemon() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const state = join(home, 'state');
  await run(['login', '--secret-stdin', '--url', service.url], { home, input: 'sk_live_test' });
  const daemon = start(['run'], { home });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  await until(() => expect(isDaemonRunning(state)).toBe(true));
  const log = () => (existsSync(join(state, 'daemon.log')) ? readFileSync(join(state, 'daemon.log'), 'utf8') : '');
  const say = (id: number) =>
    write(join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, id, 'text')}\n`);
  return { service, daemon, log, say };
}

test('a daemon whose readers are gone continues, and its log has the lines that nobody reads', async () => {
  const { service, daemon, log, say } = await startDaemon();
  await until(() => expect(log()).toContain('Capturing'));
  daemon.stdout?.destroy();
  daemon.stderr?.destroy();
  service.state.secret = 'sk_live_another';
  say(1);
  await until(() => expect(log()).toContain('Nothing is sent for now'));
  service.state.secret = 'sk_live_test';
  daemon.kill('SIGTERM');
  await until(() => expect(log()).toContain('Stopped'));
  expect(await exitOf(daemon)).toEqual({ code: 0, signal: null });
}, 60_000);

test('a daemon in a terminal that is closed ends as if asked to', async () => {
  const { daemon, log } = await startDaemon();
  await until(() => expect(log()).toContain('Capturing'));
  daemon.kill('SIGHUP');
  expect(await exitOf(daemon)).toEqual({ code: 0, signal: null });
  expect(log()).toContain('Stopped');
}, 60_000);

test('what is cut off by the next program of a pipe ends without a word of errors', async () => {
  const pipe = spawn('sh', ['-c', `"${process.execPath}" "${MAIN}" init --help | true`]);
  let said = '';
  pipe.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  expect(await exitOf(pipe)).toEqual({ code: 0, signal: null });
  await until(() => expect(pipe.stderr.readableEnded).toBe(true));
  expect(said).toBe('');
});

test('of the warnings of Node only that about SQLite is left out', async () => {
  // Once the program has set itself up.
  const code =
    "process.on('exit', () => process.emit('warning', Object.assign(new Error('odd'), { name: 'OddWarning' })))";
  const warn = `data:text/javascript,${encodeURIComponent(code)}`;
  const child = spawn(process.execPath, ['--import', warn, MAIN, 'status'], {
    env: { HOME: makeFolder() },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  await exitOf(child);
  await until(() => expect(said).toContain('OddWarning: odd'));
  expect(said).not.toContain('SQLite');
});

test('in a folder that was deleted a command works as in any other', async () => {
  const home = makeFolder();
  const line = `mkdir gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${MAIN}" sessions`;
  const child = spawn('sh', ['-c', line], { cwd: home, env: { HOME: home, PATH: process.env.PATH } });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  expect(await exitOf(child)).toEqual({ code: 0, signal: null });
  await until(() => expect(said).toContain('Nothing was captured yet.'));
});
