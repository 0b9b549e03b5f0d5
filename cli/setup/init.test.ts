import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readConsent } from '../privacy/consent.ts';
import { makeFolder, write } from '../test/folder.ts';
import { losePatience } from '../test/impatience.ts';
import { type RunOptions, run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { readTree } from '../test/tree.ts';

/** A machine on which agents have worked for a while. */
async function prepare() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const state = join(home, 'state');
  for (const [index, folder] of ['work/shop', 'work/shop', 'private'].entries()) {
    const path = join(home, '.claude/projects/p', `${sessionId(index)}.jsonl`);
    write(path, `${prompt(index, 0, 'said before', { cwd: join(home, folder), timestamp: '2025-03-04T00:00:00Z' })}\n`);
  }
  write(join(home, '.gemini/settings.json'), '{"a":1}');
  const before = readTree(home);
  const capture = (args: string[], options: Partial<RunOptions> = {}) =>
    run(args, { home, url: service.url, secret: 'sk_live_test', ...options });
  const init = (args: string[] = [], options: Partial<RunOptions> = {}) =>
    capture(['init', '--no-daemon', ...args], options);
  const consent = () => readConsent({ variables: { CAPTURE_HOME: state }, home })?.history;
  const tree = () => readTree(home);
  const agents = () => Object.fromEntries(Object.entries(tree()).filter(([path]) => !/^state(\/|$)/.test(path)));
  return { home, state, service, capture, init, before, tree, agents, consent };
}

test('init registers the machine with its agents, changes nothing in the agents, and says so', async () => {
  const { service, init, before, agents } = await prepare();
  const { exitCode, stdout, stderr } = await init(['--yes']);
  expect([exitCode, stdout.split('\n').length]).toEqual([0, 5]);
  expect(stderr).toContain(
    'Agents found: Claude Code, Gemini CLI. Their session files are read in place. Nothing is copied or moved.',
  );
  expect(stdout).toContain(
    'Registered box. Agents found: Claude Code, Gemini CLI.\nNothing in your agents was changed.\n',
  );
  expect(stdout).toContain('None of the 3 earlier sessions will be sent; `capture init --history all` changes that.');
  expect(service.state.environments.get('env_box')).toMatchObject({ hostname: 'box', platform: 'linux' });
  expect([...service.state.installations.values()].map(({ agentId }) => agentId)).toEqual([
    'claude-code',
    'gemini-cli',
  ]);
  expect(agents()).toEqual(before);
});

test.each(['darwin', 'win32'])('init says on %s that capture is experimental there', async (platform) => {
  const { init } = await prepare();
  expect((await init(['--dry-run'], { context: { platform } })).stdout).toContain(
    'Capture is experimental on this system',
  );
  expect((await init(['--dry-run'])).stdout).not.toContain('experimental');
});

test('without a daemon, init says how earlier sessions are sent', async () => {
  const { init } = await prepare();
  const { stdout } = await init(['--yes', '--history', 'all']);
  expect(stdout).toContain('`capture import` sends all 3 earlier sessions.');
  expect(stdout).not.toContain('in the background');
});

test('a folder without earlier sessions is reported, since its path may be mistyped', async () => {
  const { home, init } = await prepare();
  const about = (folder: string) => expect.stringContaining(`No earlier session was in ${join(home, folder)},`);
  const { exitCode, stderr } = await init(['--yes', '--history', '~/nowhere', '--history', '~/work']);
  expect([exitCode, stderr]).toEqual([0, about('nowhere')]);
  expect(stderr).not.toEqual(about('work'));
  expect((await init(['--dry-run', '--history', '~/nowhere'])).stderr).toEqual(about('nowhere'));
});

test('a session that names no folder belongs to no chosen folder', async () => {
  const { home, init } = await prepare();
  const path = join(home, '.claude/projects/p', `${sessionId(7)}.jsonl`);
  write(path, `${prompt(7, 0, 'said before', { cwd: undefined, timestamp: '2025-03-04T00:00:00Z' })}\n`);
  const { stdout } = await init(['--dry-run']);
  expect(stdout).toMatch(/4 earlier sessions since 2025-03 \(.*\) in 2 folders: Claude Code 4\./);
});

test('a dry run shows the steps, touches nothing, and asks nobody', async () => {
  const { service, init, before, tree } = await prepare();
  const { exitCode, stdout } = await init(['--dry-run'], { secret: '' });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/3 earlier sessions since 2025-03 \(.* B\) in 2 folders: Claude Code 3\./);
  expect(stdout).toContain('Nothing was changed.');
  const { stdout: json } = await init(['--dry-run', '--json', '--history', '~/work']);
  expect(JSON.parse(json)).toMatchObject({ dryRun: true, files: [], history: { sessions: 3, chosen: 2 } });
  expect(tree()).toEqual(before);
  expect(service.state.requests).toEqual([]);
});

const PRIVATE = '~/private';
test.each<[string, string[], string | undefined, (home: string) => unknown]>([
  ['without a terminal', ['--yes'], undefined, () => 'none'],
  ['without a terminal, all', ['--yes', '--history', 'all'], undefined, () => 'all'],
  [
    'without a terminal, of folders',
    ['--yes', '--history', PRIVATE, '--history', 'work'],
    undefined,
    (home) => [join(home, 'private'), join(home, 'work')],
  ],
  ['silence', [], 'y\n\n', () => 'none'],
  ['a no', [], 'y\nn\n', () => 'none'],
  ['a yes', [], 'y\ny\n', () => 'all'],
  ['a choice by number', [], 'y\n1\n', (home) => [join(home, 'work/shop')]],
  ['a choice by path', [], 'y\n~/private, 1\n', (home) => [join(home, 'private'), join(home, 'work/shop')]],
  ['a choice with a comma too many', [], 'y\n1,\n', (home) => [join(home, 'work/shop')]],
  ['a choice that does not exist, and another answer', [], 'y\n1, 99\n1\n', (home) => [join(home, 'work/shop')]],
  ['a choice that does not exist, and silence', [], 'y\n99\n', () => 'none'],
])("the person's choice of earlier sessions is sent: %s", async (_, args, input, expected) => {
  const { home, init, consent } = await prepare();
  const { exitCode } = await init(args, input === undefined ? {} : { isTTY: true, input });
  expect([exitCode, consent()]).toEqual([0, expected(home)]);
});

test('a decision is not asked for again, and can be changed', async () => {
  const { home, state, init, consent } = await prepare();
  await init(['--yes', '--history', 'all']);
  const { since } = readConsent({ variables: { CAPTURE_HOME: state }, home }) ?? {};
  const { stderr } = await init([], { isTTY: true, input: 'y\n' });
  expect(stderr).not.toContain('earlier session');
  expect(consent()).toBe('all');
  await init(['--yes', '--history', 'none']);
  expect(readConsent({ variables: { CAPTURE_HOME: state }, home })).toEqual({
    since,
    history: 'none',
    isByPerson: true,
  });
});

test('an import follows the decision and reports the sessions that stay; named files are captured whole', async () => {
  const { home, service, init, capture } = await prepare();
  const said = () =>
    [...service.state.sessions.values()].flatMap(({ events }) => events.flatMap(({ payload }) => payload.text ?? []));
  const { stdout: nothing } = await capture(['import', '--dry-run']);
  expect(nothing).toContain('3 records would become');
  await init(['--yes', '--history', '~/work']);
  // A file system's clock is some milliseconds behind.
  await sleep(20);
  const path = join(home, '.claude/projects/p', `${sessionId(9)}.jsonl`);
  write(path, `${prompt(9, 0, 'said since', { cwd: join(home, 'private'), timestamp: '2125-03-04T00:00:00Z' })}\n`);
  const { stdout: rehearsed } = await capture(['import', '--dry-run']);
  expect(rehearsed).toContain('3 records would become');
  expect(rehearsed).toContain('Left 1 transcript from before capturing began here');
  const { stdout } = await capture(['import']);
  expect(stdout).toContain('Captured 3 records');
  expect(stdout).toContain(
    'Left 1 transcript from before capturing began here: `capture init --history all` sends them',
  );
  expect(said().toSorted()).toEqual(['said before', 'said before', 'said since']);
  expect((await capture(['import'])).stdout).toMatch(/^Nothing is new\.\nLeft 1 transcript from before/);
  await capture(['import', join(home, '.claude')]);
  expect(said()).toHaveLength(4);
  expect((await capture(['import'])).stdout).toBe('Nothing is new.\n');
});

test('a number cannot choose a folder that was not shown', async () => {
  const { home, init, consent } = await prepare();
  for (let index = 3; index < 23; index++) {
    const path = join(home, '.claude/projects/p', `${sessionId(index)}.jsonl`);
    write(path, `${prompt(index, 0, 'said before', { cwd: join(home, `more/${index}`) })}\n`);
  }
  const { stderr } = await init([], { isTTY: true, input: 'y\n21\n20\n' });
  expect(stderr).toMatch(/ {2}20 {2}~.*\n {6}and 2 more, by their paths\n/);
  expect(stderr).toContain('There is no number 21: the list has 20 folders.');
  expect(consent()).toHaveLength(1);
});

test('excluded sessions are not counted', async () => {
  const { state, init } = await prepare();
  write(join(state, 'preferences.json'), '{"exclude": ["~/private"]}');
  const { stdout } = await init(['--dry-run']);
  expect(stdout).toMatch(/2 earlier sessions since 2025-03 .* in 1 folder: Claude Code 2\./);
});

test.each<[string, string[], Partial<RunOptions>, number, RegExp]>([
  ['without a terminal and without --yes', [], {}, 2, /There is no terminal to ask on\.\nhint: Use --yes/],
  [
    'if the answer is no',
    [],
    { isTTY: true, input: 'n\n' },
    2,
    /Continue\? \[y\/N\] Nothing was changed\. `capture init` asks again\.\n$/,
  ],
  ['if there is no answer', [], { isTTY: true, input: '' }, 2, /Nothing was changed\./],
  [
    'when nobody is signed in',
    [],
    { secret: '', isTTY: true, input: 'y\n' },
    4,
    /You are not signed in\.\nhint: .*capture login/,
  ],
  [
    'for a mixture of all and folders',
    ['--yes', '--history', 'all', '--history', '~/x'],
    {},
    2,
    /takes all, none, or folders/,
  ],
])('init changes nothing %s', async (_, args, options, exitCode, said) => {
  const { init, before, tree } = await prepare();
  const result = await init(args, options);
  expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringMatching(said)]);
  expect(tree()).toEqual(before);
});

test.each(['Continue?', 'Send these too?'])(
  'Ctrl-C at “%s” changes nothing, and ends init',
  async (question) => {
    const { init, before, tree } = await prepare();
    const stop = new AbortController();
    // A terminal on which nobody types.
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    let said = '';
    const hear = (text: string) => {
      said += text;
      if (text.includes(question)) stop.abort();
      else if (text.includes('Continue?')) stdin.write('y\n');
    };
    const context = { stdin, stop: stop.signal, stderr: { isTTY: true, write: hear } };
    expect(await init([], { context })).toMatchObject({ exitCode: 2 });
    expect(said).toMatch(/Nothing was changed\. `capture init` asks again\.\n$/);
    expect(tree()).toEqual(before);
  },
  5000,
);

test('a silent service does not prevent the set-up', async () => {
  losePatience();
  const { service, init, consent } = await prepare();
  await service.stop();
  const result = await init(['--yes']);
  expect(result).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('will be registered when it first sends.'),
  });
  expect(consent()).toBe('none');
});

test('a refused secret asks for a sign-in', async () => {
  const { init, before, tree } = await prepare();
  const result = await init(['--yes'], { secret: 'sk_live_wrong' });
  expect(result).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(/hint: .*Sign in with .*Nothing was changed/),
  });
  expect(tree()).toEqual(before);
});

test('a revoked machine is not set up', async () => {
  const { service, init, agents, before } = await prepare();
  service.state.environmentStatus = 'revoked';
  const result = await init(['--yes']);
  expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('This machine was revoked') });
  expect(agents()).toEqual(before);
});

test('a state folder that others may write to is refused, with the command that closes it', async () => {
  const { state, init, capture } = await prepare();
  mkdirSync(state);
  chmodSync(state, 0o777);
  const refused = await init(['--yes']);
  for (const result of [refused, await capture(['run'])]) {
    expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`chmod go-w ${state}`) });
  }
  chmodSync(state, 0o755);
  expect((await init(['--yes'])).exitCode).toBe(0);
});

const CURSOR = '.cursor/projects/shop/agent-transcripts/aaaa/aaaa.jsonl';
const SAID = `${JSON.stringify({ role: 'user', message: { content: [{ type: 'text', text: 'before the hooks' }] } })}\n`;

test('init shows and adds the entries for Cursor, and uninstall removes them', async () => {
  const { home, init, capture, agents } = await prepare();
  write(join(home, '.cursor/hooks.json'), '{"version": 1}');
  const before = agents();
  const { stdout, stderr } = await init(['--yes']);
  expect(stderr).toContain('~/.cursor/hooks.json gets 10 entries, since Cursor records neither times nor');
  expect(stdout).toContain('Changed in your agents: ~/.cursor/hooks.json; `capture uninstall` undoes it.');
  expect(readFileSync(join(home, '.cursor/hooks.json'), 'utf8')).toContain('/state/bin/hook cursor');
  expect(statSync(join(home, 'state/bin/hook')).mode & 0o777).toBe(0o755);
  const undone = await capture(['uninstall']);
  expect(undone.stdout).toContain(`${home}/.cursor/hooks.json is as it was before.\n`);
  expect([agents(), existsSync(join(home, 'state/bin/hook'))]).toEqual([before, false]);
  expect((await capture(['uninstall'])).stdout).toContain('Nothing was installed.');
});

test("with --no-hooks, Cursor's settings stay unchanged too", async () => {
  const { home, init } = await prepare();
  mkdirSync(join(home, '.cursor'));
  expect((await init(['--yes', '--no-hooks'])).stdout).toContain('Nothing in your agents was changed.');
  expect(existsSync(join(home, '.cursor/hooks.json'))).toBe(false);
});

test('settings that cannot be edited are left alone, with the entries to add; the rest is done', async () => {
  const { home, init, consent } = await prepare();
  write(join(home, '.cursor/hooks.json'), '{"a": ');
  const result = await init(['--yes']);
  expect(result.stderr).toContain('~/.cursor/hooks.json is left alone: it is not valid JSON.');
  expect(result.stderr).toContain('bin/hook cursor');
  expect([result.exitCode, readFileSync(join(home, '.cursor/hooks.json'), 'utf8'), consent()]).toEqual([
    1,
    '{"a": ',
    'none',
  ]);
});

test("Cursor's conversations from before its hooks are captured first if everything is allowed, and not otherwise", async () => {
  for (const [history, isSent] of [
    ['all', true],
    ['none', false],
  ] as const) {
    const { home, service, init } = await prepare();
    write(join(home, CURSOR), SAID);
    expect((await init(['--yes', '--history', history])).exitCode).toBe(0);
    expect(JSON.stringify([...service.state.sessions.values()]).includes('before the hooks')).toBe(isSent);
  }
});

test('without a umask, no file that is run is open to others', async () => {
  const { home, init } = await prepare();
  mkdirSync(join(home, '.cursor'));
  const before = process.umask(0);
  await init(['--yes']).finally(() => process.umask(before));
  for (const path of ['state', 'state/bin', 'state/bin/hook', '.cursor/hooks.json']) {
    expect([path, statSync(join(home, path)).mode & 0o022]).toEqual([path, 0]);
  }
});

test('on a machine that is set up, sessions that began since then do not count as earlier', async () => {
  const { home, init } = await prepare();
  await init(['--yes']);
  const later = { cwd: join(home, 'work/shop'), timestamp: new Date(Date.now() + 1000).toISOString() };
  write(join(home, '.claude/projects/p', `${sessionId(7)}.jsonl`), `${prompt(7, 0, 'said since', later)}\n`);
  const { stdout } = await init(['--dry-run', '--json', '--history', 'all']);
  expect(JSON.parse(stdout).history).toMatchObject({ sessions: 3, chosen: 3 });
  expect((await init(['--dry-run', '--history', 'all'])).stdout).toContain('3 earlier sessions since 2025-03');
});
