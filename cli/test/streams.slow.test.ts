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

test('a daemon continues after its stdout and stderr are closed, and still writes its log', async () => {
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

test('a daemon ends normally when its terminal is closed', async () => {
  const { daemon, log } = await startDaemon();
  await until(() => expect(log()).toContain('Capturing'));
  daemon.kill('SIGHUP');
  expect(await exitOf(daemon)).toEqual({ code: 0, signal: null });
  expect(log()).toContain('Stopped');
}, 60_000);

test('a command ends without an error message when the next program of the pipe ends first', async () => {
  const pipe = spawn('sh', ['-c', `"${process.execPath}" "${MAIN}" init --help | true`]);
  let said = '';
  pipe.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  expect(await exitOf(pipe)).toEqual({ code: 0, signal: null });
  await until(() => expect(pipe.stderr.readableEnded).toBe(true));
  expect(said).toBe('');
});

test("the command line suppresses Node's warning about SQLite and no other warning", async () => {
  // Emit the warning after the program has installed its filter.
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

test('a command works in a deleted folder', async () => {
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
