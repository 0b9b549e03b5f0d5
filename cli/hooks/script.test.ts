import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { commandOf, hookScript, isOursOn, scriptPath, writeScript } from './script.ts';

const MESSAGE = JSON.stringify({ hook_event_name: 'stop', text: 'x\ny' });

function install({ name = 'state', PATH = '/usr/bin:/bin' } = {}) {
  const home = makeFolder();
  const state = join(home, name);
  const context = { variables: { CAPTURE_HOME: state, PATH }, home, platform: 'linux' };
  writeScript(context);
  const inbox = () => readdirSync(join(state, 'inbox/cursor'));
  return { home, state, context, inbox, command: commandOf(context, 'cursor') };
}

/** Runs a command as agents do: in a shell, with a message on its standard input. */
function ring(command: string, { input = MESSAGE, env = {}, shell = '/bin/sh' } = {}) {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', command], { input, env, encoding: 'utf8' });
  return { status, written: stdout + stderr };
}

const SILENT = { status: 0, written: '' };

test('a message is stored whole, only for its owner, and nothing is printed', () => {
  const { state, inbox, command } = install();
  const large = JSON.stringify({ text: 'ä\\n'.repeat(100_000) });
  for (const input of [MESSAGE, large]) expect(ring(command, { input })).toEqual(SILENT);
  const kept = inbox().map((file) => readFileSync(join(state, 'inbox/cursor', file), 'utf8'));
  expect(new Set(kept)).toEqual(new Set([MESSAGE, large]));
  expect(inbox().every((file) => file.endsWith('.json'))).toBe(true);
  expect(statSync(join(state, 'inbox/cursor', inbox()[0] ?? '')).mode & 0o777).toBe(0o600);
});

test.each(["it's here", 'a b', '$HOME', 'umlaut-ä', '"quoted"'])('a state folder may be named %s', (name) => {
  const { home, context, inbox, command } = install({ name });
  expect(ring(command)).toEqual(SILENT);
  expect(inbox()).toHaveLength(1);
  expect(isOursOn(context)(command)).toBe(true);
  expect(isOursOn({ ...context, variables: { CAPTURE_HOME: join(home, `${name}x`) } })(command)).toBe(false);
});

test.each(['', '../../etc', 'codex'])('nothing is stored for another agent, %j', (agent) => {
  const { context, inbox } = install();
  expect(ring(`${scriptPath(context)} '${agent}'`)).toEqual(SILENT);
  expect(inbox()).toEqual([]);
});

test.each<[string, (state: string) => void]>([
  ['the inbox is gone', (state) => rmSync(join(state, 'inbox'), { recursive: true })],
  ['the inbox is a file', (state) => write(rm(join(state, 'inbox')), '')],
  ['the inbox is read-only', (state) => chmodSync(join(state, 'inbox/cursor'), 0o500)],
])('a hook is silent, reads its whole input, and succeeds when %s', async (_, spoil) => {
  const { state, command } = install();
  spoil(state);
  const child = spawn('/bin/sh', ['-c', command]);
  const broken = vi.fn();
  child.stdin.on('error', broken);
  child.stdin.end('x'.repeat(5_000_000));
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(broken).not.toHaveBeenCalled();
});

function rm(path: string): string {
  rmSync(path, { recursive: true });
  return path;
}

test('a hook is silent and succeeds when its standard input or its output is closed', () => {
  const { inbox, command } = install();
  expect(ring(`exec ${command} <&-`, { input: '' })).toEqual(SILENT);
  expect(ring(`exec ${command} >&- 2>&-`)).toEqual(SILENT);
  expect(inbox()).toHaveLength(1);
});

test('an incomplete message is not stored', () => {
  const { state, context, inbox, command } = install();
  const cat = write(join(makeFolder(), 'cat'), '#!/bin/sh\nread -r line\necho "$line"\nexit 1\n', 0o755);
  const path = scriptPath(context);
  write(path, readFileSync(path, 'utf8').replace('PATH=', `PATH=${dirname(cat)}:`), 0o755);
  ring(command);
  expect([inbox(), readdirSync(state)]).toEqual([[], ['bin', 'inbox']]);
});

test('concurrent hooks each store their message', async () => {
  const { inbox, command } = install();
  const rings = Array.from({ length: 40 }, async (_, index) => {
    const child = spawn('/bin/sh', ['-c', command]);
    child.stdin.end(JSON.stringify({ index }));
    await once(child, 'exit');
  });
  await Promise.all(rings);
  expect(inbox()).toHaveLength(40);
});

test.each(['dash', 'bash'])('the script runs in %s', (name) => {
  const shells = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  const shell = shells.find(existsSync);
  if (shell === undefined) return;
  const { context, inbox } = install();
  expect(ring(`exec ${shell} ${scriptPath(context)} cursor`)).toEqual(SILENT);
  expect(inbox()).toHaveLength(1);
});

test('programs of a project that come first in PATH are not run', () => {
  const { home, inbox, command } = install();
  const project = join(home, 'node_modules/.bin');
  for (const name of ['cat', 'rm', 'mv', 'mkdir']) {
    write(join(project, name), `#!/bin/sh\ntouch ${home}/run-by-hook\n`, 0o755);
  }
  expect(ring(command, { env: { PATH: `${project}:${process.env.PATH}` } })).toEqual(SILENT);
  expect(inbox()).toHaveLength(1);
  expect(existsSync(join(home, 'run-by-hook'))).toBe(false);
});

test('on Windows, two messages of one second have two names, and no path depends on a code page', () => {
  const context = {
    variables: { CAPTURE_HOME: 'C:\\Users\\Jürgen\\.capture' },
    home: 'C:\\Users\\Jürgen',
    platform: 'win32',
  };
  const script = hookScript(context);
  // cmd seeds its random numbers by the second, so they can repeat.
  expect(script).not.toMatch(/%random%/i);
  expect(script).toContain('[guid]::NewGuid()');
  expect(script).toContain('%~dp0..\\inbox\\cursor');
  expect(script).toMatch(/^[\x20-\x7e\r\n]*$/);
});

test('on Windows, a program in the current folder is not taken for PowerShell', () => {
  const script = hookScript({ variables: {}, home: 'C:\\Users\\ann', platform: 'win32' });
  const programs = script.match(/\S*powershell\S*/gi);
  expect(programs).toEqual(['"%SystemRoot%\\System32\\WindowsPowerShell\\v1.0\\powershell.exe"']);
});
