import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { takeLock } from '../lock.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run, start } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { findDaemon, isDaemonRunning, pidPath } from './control.ts';

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 20 });

async function setUp() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const state = join(home, 'state');
  await run(['login', '--secret-stdin', '--url', service.url], { home, input: 'sk_live_test' });
  const daemon = () => {
    const child = start(['run'], { home });
    onTestFinished(() => child.signal('SIGKILL'));
    return child;
  };
  return { home, state, daemon };
}

/** A program unrelated to capture. */
function startOther(): ChildProcess {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  onTestFinished(() => void other.kill('SIGKILL'));
  return other;
}

test('a reused process id does not keep a daemon from starting, and the other program is left alone', async () => {
  const { home, state, daemon } = await setUp();
  const other = startOther();
  const killed = daemon();
  await until(() => expect(isDaemonRunning(state)).toBe(true));
  await killed.end('SIGKILL');
  write(pidPath(state), `${other.pid}\n2026-11-21T12:00:00.000Z\n0.1.0\n`);
  expect(findDaemon(state)).toBeUndefined();
  expect(await run(['stop', '--json'], { home })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching('false'),
  });
  expect(other.signalCode).toBeNull();
  const next = daemon();
  await until(() => expect(findDaemon(state)?.pid).toBe(next.pid));
  expect(other.signalCode).toBeNull();
});

test('a second daemon names the first and ends; `stop` ends the first', async () => {
  const { home, state, daemon } = await setUp();
  const first = daemon();
  await until(() => expect(findDaemon(state)).toMatchObject({ pid: first.pid, version: expect.stringMatching(/\d/) }));
  expect(await run(['run'], { home })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`running already, as process ${first.pid}`),
  });
  expect(await run(['stop'], { home })).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('is stopped') });
  expect(await first.ended).toBe(0);
  expect(existsSync(pidPath(state))).toBe(false);
  expect(await run(['stop'], { home })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('was not running'),
  });
});

test('`restart` replaces a running daemon, and starts one if none runs', async () => {
  const { home, state, daemon } = await setUp();
  const first = daemon();
  await until(() => expect(isDaemonRunning(state)).toBe(true));
  const environment = { PATH: process.env.PATH ?? '', HOME: home };
  const restart = async () => JSON.parse((await run(['restart', '--json'], { home, variables: environment })).stdout);
  onTestFinished(async () => void (await run(['stop'], { home })));
  const answer = await restart();
  expect(await first.ended).toBe(0);
  expect(answer).toEqual({ stopped: true, running: true, pid: findDaemon(state)?.pid });
  expect(answer.pid).not.toBe(first.pid);
  await run(['stop'], { home });
  expect(await restart()).toMatchObject({ stopped: false, running: true });
  expect(readFileSync(join(state, 'daemon.log'), 'utf8').match(/Stopped/g)).toHaveLength(2);
});

test('only its owner can read a lock, and the lock is lost with its file', () => {
  const folder = makeFolder();
  const lock = takeLock(folder, 'one');
  onTestFinished(() => lock?.release());
  const path = join(folder, 'one.lock');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(takeLock(folder, 'one')).toBeUndefined();
  expect(lock?.isLost()).toBe(false);
});
