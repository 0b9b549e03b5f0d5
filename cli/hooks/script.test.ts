import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { guardedCommand, hookPath, mentionsHook, plainCommand, type ScriptOptions, writeScript } from './script.ts';

const MESSAGE = JSON.stringify({ hook_event_name: 'Stop', text: 'x\ny' });

function install(options: Partial<ScriptOptions> = {}, name = 'state') {
  const state = join(makeFolder(), name);
  for (const folder of ['notes', 'inbox/cursor']) mkdirSync(join(state, folder), { recursive: true });
  write(hookPath(state, 'linux'), writeScript({ state, platform: 'linux', ...options }), 0o755);
  const notes = () => readdirSync(join(state, 'notes'));
  const inbox = () => readdirSync(join(state, 'inbox/cursor'));
  return { state, notes, inbox };
}

/** Runs a command as agents do: by a shell, with a message on its standard input. */
function ring(command: string, { input = MESSAGE, env = {}, shell = '/bin/sh' } = {}) {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', command], { input, env, encoding: 'utf8' });
  return { status, written: stdout + stderr };
}

const SILENT = { status: 0, written: '' };

test('a hook leaves a note, prints nothing, and succeeds', () => {
  const { state, notes } = install();
  expect(ring(guardedCommand(state, 'linux', 'codex'))).toEqual(SILENT);
  expect(notes()).toEqual(['codex']);
  expect(statSync(join(state, 'notes/codex'))).toMatchObject({ size: 0, mode: 0o100600 });
});

test('a hook that rings again renews its note', () => {
  const { state } = install();
  ring(plainCommand(state, 'linux', 'codex'));
  const note = join(state, 'notes/codex');
  utimesSync(note, 1, 1);
  ring(plainCommand(state, 'linux', 'codex'));
  expect(statSync(note).mtimeMs).toBeGreaterThan(1000);
});

test.each(["it's here", 'a b', '$HOME', 'umlaut-ä', '"quoted"'])('a state folder may be called %s', (name) => {
  const { state, notes } = install({}, name);
  const command = guardedCommand(state, 'linux', 'codex');
  expect(ring(command)).toEqual(SILENT);
  expect(notes()).toEqual(['codex']);
  expect(mentionsHook(state, 'linux')(command)).toBe(true);
  expect(mentionsHook(`${state}x`, 'linux')(command)).toBe(false);
});

/** Bash can be had to say which process runs which command, although the script closes its outputs. */
function trace(path: string, agent: string) {
  const traced = join(makeFolder(), 'trace');
  const command = `exec bash --norc -c 'PS4="+ \\$BASHPID "; BASH_XTRACEFD=9; set -x; . ${path}' ${path} ${agent} 9>${traced}`;
  expect(ring(command, { env: { PATH: process.env.PATH ?? '' } })).toEqual(SILENT);
  const lines = readFileSync(traced, 'utf8').match(/^\++ \d+ '?[^\s']+/gm) ?? [];
  const words = lines.map((line) => line.replace("'", '').split(' '));
  return { processes: new Set(words.map(([, pid]) => pid)), commands: new Set(words.map(([, , name]) => name)) };
}

test('the usual path starts no process and needs no other program', () => {
  const { state, notes } = install({ tools: '/nowhere', start: ['/bin/false'] });
  write(join(state, 'daemon.pid'), `${process.pid}\n`);
  write(join(state, 'daemon.boot'), readFileSync('/proc/sys/kernel/random/boot_id'));
  const { processes, commands } = trace(hookPath(state, 'linux'), 'codex');
  expect(notes()).toEqual(['codex']);
  expect(processes.size).toBe(1);
  const builtIn = new Set(['.', 'exec', 'case', 'umask', '[', 'true', 'read', 'kill', ':', 'exit']);
  const others = [...commands].filter((name) => !builtIn.has(name ?? '') && !/^\w+=/.test(name ?? ''));
  expect(others).toEqual([]);
});

test.each(['', '../../etc', 'a b', 'UPPER', 'a/b'])('an id that is none, %j, leaves nothing', (id) => {
  const { state, notes } = install();
  expect(ring(`${hookPath(state, 'linux')} '${id}'`)).toEqual(SILENT);
  expect(notes()).toEqual([]);
});

test.each(['there', 'gone'])('a message of any size is read to its end where our files are %s', async (place) => {
  const { state } = install();
  if (place === 'gone') rmSync(state, { recursive: true });
  const child = spawn('/bin/sh', ['-c', guardedCommand(state, 'linux', 'codex')]);
  const broken = vi.fn();
  child.stdin.on('error', broken);
  child.stdin.end('x'.repeat(5_000_000));
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(broken).not.toHaveBeenCalled();
});

test.each<[string, (state: string) => void]>([
  ['the state folder is gone', (state) => rmSync(state, { recursive: true })],
  ['there is no folder for notes', (state) => rmSync(join(state, 'notes'), { recursive: true })],
  ['a file stands where the notes should', (state) => write(`${rm(join(state, 'notes'))}`, '')],
  ['the note is a folder', (state) => mkdirSync(join(state, 'notes/cursor'))],
  ['the inbox is gone', (state) => rmSync(join(state, 'inbox'), { recursive: true })],
  ['the inbox is a file', (state) => write(rm(join(state, 'inbox')), '')],
  ['all of it is read-only', (state) => chmodSync(join(state, 'notes'), 0o500)],
])('a hook is silent and succeeds when %s', (_, spoil) => {
  const { state } = install({ start: ['/bin/false'] });
  spoil(state);
  for (const agent of ['codex', 'cursor']) expect(ring(guardedCommand(state, 'linux', agent))).toEqual(SILENT);
});

function rm(path: string): string {
  rmSync(path, { recursive: true });
  return path;
}

test('a hook is silent and succeeds when its standard input or its output is closed', () => {
  const { state, notes } = install();
  expect(ring(`exec ${hookPath(state, 'linux')} codex <&-`, { input: '' })).toEqual(SILENT);
  expect(ring(`exec ${hookPath(state, 'linux')} qwen-code >&- 2>&-`)).toEqual(SILENT);
  expect(notes()).toEqual(['codex', 'qwen-code']);
});

test("Cursor's message is kept whole, for its owner only; of others nothing is", () => {
  const { state, inbox } = install();
  ring(plainCommand(state, 'linux', 'codex'));
  expect(inbox()).toEqual([]);
  const large = JSON.stringify({ text: 'ä\\n'.repeat(100_000) });
  for (const input of [MESSAGE, large]) ring(plainCommand(state, 'linux', 'cursor'), { input });
  const files = inbox();
  expect(files.every((file) => file.endsWith('.json'))).toBe(true);
  const kept = files.map((file) => readFileSync(join(state, 'inbox/cursor', file), 'utf8'));
  expect(new Set(kept)).toEqual(new Set([MESSAGE, large]));
  expect(statSync(join(state, 'inbox/cursor', files[0] ?? '')).mode & 0o777).toBe(0o600);
});

test("a message of Cursor's that cannot be kept whole is not kept, and is read to its end all the same", () => {
  const tools = makeFolder();
  write(join(tools, 'cat'), '#!/bin/sh\nread -r line\necho "$line"\nexit 1\n', 0o755);
  for (const name of ['mv', 'rm']) symlinkSync(`/bin/${name}`, join(tools, name));
  const { state, inbox, notes } = install({ tools });
  ring(plainCommand(state, 'linux', 'cursor'));
  expect({ inbox: inbox(), notes: notes() }).toEqual({ inbox: [], notes: ['cursor'] });
});

test("Cursor's hooks that ring at once each keep theirs", async () => {
  const { state, inbox } = install();
  const rings = Array.from({ length: 40 }, async (_, index) => {
    const child = spawn('/bin/sh', ['-c', plainCommand(state, 'linux', 'cursor')]);
    child.stdin.end(JSON.stringify({ index }));
    await once(child, 'exit');
  });
  await Promise.all(rings);
  expect(inbox()).toHaveLength(40);
});

test('nothing of the environment is kept', () => {
  const { state } = install();
  ring(plainCommand(state, 'linux', 'cursor'), { env: { TOKEN: 'planted-value' } });
  const { stdout } = spawnSync('grep', ['-r', 'planted-value', state], { encoding: 'utf8' });
  expect(stdout).toBe('');
});

/** A daemon that notes with what it was started, and then stays. */
function installDaemon(lines = 'exec sleep 60') {
  const home = makeFolder();
  const daemon = write(
    join(home, 'daemon'),
    `#!/bin/sh\necho $$ >> ${home}/started\nenv > ${home}/env\nopen=$(readlink /proc/$$/fd/[012])\necho "$open" > ${home}/open.new\nmv ${home}/open.new ${home}/open\n${lines}\n`,
    0o755,
  );
  onTestFinished(() => {
    for (const pid of readStarted(home)) spawnSync('kill', [pid]);
  });
  const installed = install({ start: [daemon, 'run'], variables: { CODEX_HOME: '/else' } });
  const command = guardedCommand(installed.state, 'linux', 'codex');
  const ringIt = (env: Record<string, string> = {}) => ring(command, { env: { PATH: process.env.PATH ?? '', ...env } });
  return { ...installed, home, ringIt, started: () => readStarted(home) };
}

const readStarted = (home: string): string[] =>
  existsSync(join(home, 'started')) ? readFileSync(join(home, 'started'), 'utf8').trim().split('\n') : [];

test('the daemon is started where none runs, once, and nothing of the agent is handed to it', async () => {
  const { home, state, ringIt, started } = installDaemon();
  expect(ringIt({ NODE_CHANNEL_FD: '3', NODE_OPTIONS: '--inspect' })).toEqual(SILENT);
  await vi.waitFor(() => expect(existsSync(join(home, 'open'))).toBe(true), 5000);
  ringIt();
  const [pid = ''] = started();
  expect(started()).toEqual([pid]);
  const env = readFileSync(join(home, 'env'), 'utf8');
  expect(env).toContain('CODEX_HOME=/else');
  expect(env).not.toMatch(/NODE_/);
  expect(env).toContain(`PWD=${state}`);
  expect(readFileSync(join(home, 'open'), 'utf8')).toBe('/dev/null\n'.repeat(3));
});

test('the daemon is not started while it runs, and is when it has ended', async () => {
  const { state, ringIt, started } = installDaemon();
  const running = spawn('sleep', ['60']);
  onTestFinished(() => void running.kill());
  write(join(state, 'daemon.pid'), `${running.pid}\n`);
  write(join(state, 'daemon.boot'), readFileSync('/proc/sys/kernel/random/boot_id'));
  ringIt();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(started()).toEqual([]);
  running.kill();
  await once(running, 'exit');
  ringIt();
  await vi.waitFor(() => expect(started()).toHaveLength(1), 5000);
});

test('a process that got the number of the daemon after a restart of the machine is not taken for it', async () => {
  const { state, ringIt, started } = installDaemon();
  write(join(state, 'daemon.pid'), `${process.pid}\n`);
  write(join(state, 'daemon.boot'), 'an earlier one\n');
  ringIt();
  await vi.waitFor(() => expect(started()).toHaveLength(1), 5000);
});

test('a daemon that cannot run is tried once a minute', async () => {
  const { state, ringIt, started } = installDaemon('exit 4');
  ringIt();
  await vi.waitFor(() => expect(started()).toHaveLength(1), 5000);
  ringIt();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(started()).toHaveLength(1);
  spawnSync('touch', ['-d', '2 minutes ago', join(state, 'daemon.started')]);
  ringIt();
  await vi.waitFor(() => expect(started()).toHaveLength(2), 5000);
});

test.each(['dash', 'bash'])('the script runs in %s', (name) => {
  const shell = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);
  if (shell === undefined) return;
  const { state, inbox } = install({ start: ['/bin/false'] });
  const script = hookPath(state, 'linux');
  expect(ring(`exec ${shell} ${script} cursor`)).toEqual(SILENT);
  expect(inbox()).toHaveLength(1);
});

test('programs of a project that come first in PATH are not run', async () => {
  const { home, state, ringIt, started } = installDaemon();
  const project = join(home, 'node_modules/.bin');
  for (const name of ['find', 'setsid', 'mkdir', 'cat', 'rm', 'mv']) {
    write(join(project, name), `#!/bin/sh\ntouch ${home}/run-by-hook\n`, 0o755);
  }
  rmSync(join(state, 'notes'), { recursive: true });
  ringIt({ PATH: `${project}:${process.env.PATH}` });
  await vi.waitFor(() => expect(started()).toHaveLength(1), 5000);
  expect(existsSync(join(home, 'run-by-hook'))).toBe(false);
});
