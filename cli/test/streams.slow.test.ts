import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startProcess } from '../../test/process.ts';
import { isDaemonRunning } from '../daemon/control.ts';
import { makeFolder, write } from './folder.ts';
import { run, start } from './program.ts';
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
  onTestFinished(() => daemon.signal('SIGKILL'));
  await until(() => expect(isDaemonRunning(state)).toBe(true));
  const log = () => (existsSync(join(state, 'daemon.log')) ? readFileSync(join(state, 'daemon.log'), 'utf8') : '');
  const say = (id: number) =>
    write(join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, id, 'text')}\n`);
  return { service, daemon, log, say };
}

test('a daemon continues after its stdout and stderr are closed, and still writes its log', async () => {
  const { service, daemon, log, say } = await startDaemon();
  await until(() => expect(log()).toContain('Capturing'));
  daemon.leave();
  service.state.secret = 'sk_live_another';
  say(1);
  await until(() => expect(log()).toContain('Nothing is sent for now'));
  service.state.secret = 'sk_live_test';
  daemon.signal('SIGTERM');
  await until(() => expect(log()).toContain('Stopped'));
  expect(await daemon.ended).toBe(0);
}, 60_000);

test('a daemon ends normally when its terminal is closed', async () => {
  const { daemon, log } = await startDaemon();
  await until(() => expect(log()).toContain('Capturing'));
  expect(await daemon.end('SIGHUP')).toBe(0);
  expect(log()).toContain('Stopped');
}, 60_000);

test('a command ends without an error message when the next program of the pipe ends first', async () => {
  const pipe = startProcess(['sh', '-c', `"${process.execPath}" "${MAIN}" init --help | true`], { env: {} });
  expect(await pipe.ended).toBe(0);
  expect(pipe.output()).toBe('');
});

test("the command line suppresses Node's warning about SQLite and no other warning", async () => {
  // Emit the warning after the program has installed its filter.
  const code =
    "process.on('exit', () => process.emit('warning', Object.assign(new Error('odd'), { name: 'OddWarning' })))";
  const warn = `data:text/javascript,${encodeURIComponent(code)}`;
  const child = start(['status'], { home: makeFolder() }, ['--import', warn]);
  await child.ended;
  expect(child.output()).toContain('OddWarning: odd');
  expect(child.output()).not.toContain('SQLite');
});

test('a command works in a deleted folder', async () => {
  const home = makeFolder();
  const line = `mkdir gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${MAIN}" sessions`;
  const child = startProcess(['sh', '-c', line], { cwd: home, env: { HOME: home } });
  expect(await child.ended).toBe(0);
  expect(child.stdout()).toContain('Nothing was captured yet.');
});
