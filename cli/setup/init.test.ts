import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { losePatience } from '../test/impatience.ts';
import { type RunOptions, run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { readTree } from '../test/tree.ts';

const CLAUDE =
  '{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\r\n}';
const GEMINI = '\ufeff{\n  // mine\n  "security": {},\n}\n';

/** A machine with agents whose settings are as people have them: linked, closed to others, commented. */
async function prepare() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  write(join(home, 'dotfiles/claude.json'), CLAUDE, 0o600);
  mkdirSync(join(home, '.claude'));
  symlinkSync('../dotfiles/claude.json', join(home, '.claude/settings.json'));
  write(join(home, '.gemini/settings.json'), GEMINI);
  write(join(home, '.qwen/settings.json'), '{"a":1}');
  mkdirSync(join(home, '.copilot'));
  write(join(home, '.cline/hooks/TaskStart'), '#!/bin/sh\necho theirs\n', 0o755);
  mkdirSync(join(home, '.pi/agent'), { recursive: true });
  const before = readTree(home);
  const capture = (args: string[], options: Partial<RunOptions> = {}) =>
    run(args, { home, url: service.url, secret: 'sk_live_test', ...options });
  return { home, service, capture, before, tree: () => readTree(home) };
}

/** What the state folder holds is not the agents'. */
const withoutState = (tree: { [path: string]: string }) =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => path !== 'state' && !path.startsWith('state/')));

test('init installs hooks for the agents it finds, and uninstall leaves every byte as it was', async () => {
  const { home, service, capture, before, tree } = await prepare();
  const result = await capture(['init', '--yes', '--no-daemon', '--json']);
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(result.stdout)).toMatchObject({
    dryRun: false,
    registered: true,
    environmentId: 'env_box',
    daemon: { starter: 'none' },
    codexTrust: 'not needed',
    agents: [
      { agent: 'claude-code', installed: true, installationId: 'ins_claude-code', files: [{ change: 'edited' }] },
      { agent: 'gemini-cli', installed: true },
      { agent: 'qwen-code', installed: true },
      { agent: 'copilot-cli', installed: true, files: [{ change: 'created' }] },
      {
        agent: 'cline',
        installed: false,
        files: expect.arrayContaining([expect.objectContaining({ change: 'refused' })]),
      },
      { agent: 'pi', installed: false, files: [] },
    ],
  });
  expect(service.state.environments.get('env_box')).toMatchObject({ hostname: 'box', platform: 'linux' });
  expect([...service.state.installations.keys()]).toContain('ins_gemini-cli');
  expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).toContain(`${home}/state/bin/hook claude-code`);
  expect(statSync(join(home, 'dotfiles/claude.json')).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, '.cline/hooks/TaskComplete')).mode & 0o777).toBe(0o755);

  const undone = await capture(['uninstall']);
  expect(undone).toMatchObject({ exitCode: 0, stderr: '' });
  expect(undone.stdout).toContain(`${home}/.claude/settings.json is as it was before.\n`);
  expect(undone.stdout).toContain(`${home}/.copilot/hooks/session-capture.json is removed.\n`);
  expect(withoutState(tree())).toEqual(before);
  expect(await capture(['uninstall'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Nothing was installed.'),
  });
});

test('init run again changes nothing', async () => {
  const { capture, tree } = await prepare();
  await capture(['init', '--yes', '--no-daemon']);
  const once = tree();
  const again = await capture(['init', '--yes', '--no-daemon']);
  expect(again.exitCode).toBe(0);
  expect(again.stderr).toContain('Claude Code (');
  expect(again.stderr).toContain('has its hooks already.');
  expect(tree()).toEqual(once);
});

test('a rehearsal shows every difference, touches nothing and asks nobody', async () => {
  const { home, service, capture, before, tree } = await prepare();
  const result = await capture(['init', '--dry-run'], { secret: '' });
  expect(result.exitCode).toBe(0);
  expect(result.stdout).toContain(
    `--- ${home}/.qwen/settings.json\n+++ ${home}/.qwen/settings.json\n@@ -1,1 +1,1 @@\n-{"a":1}\n`,
  );
  expect(result.stdout).toContain(`--- /dev/null\n+++ ${home}/.copilot/hooks/session-capture.json\n`);
  expect(result.stdout).toContain(`--- ${home}/.claude/settings.json (${home}/dotfiles/claude.json)\n`);
  expect(result.stdout).toContain('/TaskStart is left alone: it is not ours');
  expect(tree()).toEqual(before);
  expect(service.state.requests).toEqual([]);
});

test('secrets among the settings are not shown, and stay as they are in the file', async () => {
  const { home, capture } = await prepare();
  const secrets = ['sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4', 'planted-variable-4711', 'hunter2hunter3'];
  const env = { ANTHROPIC_API_KEY: secrets[0], NOTE: `with ${secrets[1]}`, DB_PASSWORD: secrets[2] };
  const written = [
    write(join(home, '.qwen/settings.json'), JSON.stringify({ env })),
    write(join(home, '.gemini/settings.json'), `// mine\n${JSON.stringify({ env, theme: 'dark' }, undefined, '\t')}\n`),
  ];
  const variables = { SOME_TOKEN: secrets[1] ?? '' };
  for (const args of [['--dry-run'], ['--dry-run', '--json'], ['--yes', '--no-daemon']]) {
    const { stdout, stderr } = await capture(['init', ...args], { variables });
    expect(stdout + stderr).toContain('REDACTED');
    expect(stdout + stderr).toContain('hook qwen-code');
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  }
  for (const path of written) for (const secret of secrets) expect(readFileSync(path, 'utf8')).toContain(secret);
});

test.each<[string, Partial<RunOptions>, number, RegExp]>([
  ['without a terminal and without --yes', {}, 2, /There is no terminal to ask on\.\nhint: Give --yes/],
  ['where the answer is no', { isTTY: true, input: 'n\n' }, 1, /as shown\? \[y\/N\] error: Nothing was changed\./],
  ['where the answer is silence', { isTTY: true, input: '' }, 1, /error: Nothing was changed\./],
  [
    'when nobody is signed in',
    { secret: '', isTTY: true, input: 'y\n' },
    4,
    /You are not signed in\.\nhint: .*capture login/,
  ],
])('init changes nothing %s', async (_, options, exitCode, said) => {
  const { capture, before, tree } = await prepare();
  const result = await capture(['init', '--no-daemon'], options);
  expect(result.exitCode).toBe(exitCode);
  expect(result.stderr).toMatch(said);
  expect(tree()).toEqual(before);
});

test('Ctrl-C where init asks changes nothing, and ends it', async () => {
  const { capture, before, tree } = await prepare();
  const stop = new AbortController();
  // A terminal on which nobody types.
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  let said = '';
  const write = (text: string) => {
    said += text;
    if (text.includes('[y/N]')) stop.abort();
  };
  const context = { stdin, stop: stop.signal, stderr: { isTTY: true, write } };
  expect(await capture(['init', '--no-daemon'], { context })).toMatchObject({ exitCode: 1 });
  expect(said).toContain('Nothing was changed.');
  expect(tree()).toEqual(before);
}, 5000);

test('init asks on a terminal, and goes on after a yes', async () => {
  const { home, capture } = await prepare();
  const result = await capture(['init', '--no-daemon'], { isTTY: true, input: 'y\n' });
  expect(result.exitCode).toBe(0);
  expect(result.stderr).toContain('Change 9 files as shown? [y/N] Registered box');
  expect(readFileSync(join(home, '.qwen/settings.json'), 'utf8')).toContain('session-capture');
});

test('init takes the agents that are named, found or not, and no others', async () => {
  const { home, capture, before, tree } = await prepare();
  await capture(['init', '--yes', '--no-daemon', '--agent', 'qwen-code', '--agent', 'droid']);
  expect(readFileSync(join(home, '.factory/settings.json'), 'utf8')).toContain('hook droid');
  expect(tree()['.gemini/settings.json']).toBe(before['.gemini/settings.json']);
  await capture(['uninstall']);
  expect(withoutState(tree())).toEqual(before);
  const unknown = await capture(['init', '--yes', '--agent', 'clod']);
  expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('No agent is called clod.') });
});

test('settings that cannot be read are left alone, with what to add to them; the rest is done', async () => {
  const { home, capture } = await prepare();
  const broken = write(join(home, '.qwen/settings.json'), '{"a": ');
  const result = await capture(['init', '--yes', '--no-daemon']);
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toContain(
    `${broken} is left alone: it is not valid JSON. What would have to be in it:\n    {\n`,
  );
  expect(result.stderr).toContain('error: 1 step failed.');
  expect(readFileSync(broken, 'utf8')).toBe('{"a": ');
  expect(readFileSync(join(home, '.gemini/settings.json'), 'utf8')).toContain('hook gemini-cli');
});

test('what others write into the settings meanwhile stays after uninstall', async () => {
  const { home, capture } = await prepare();
  await capture(['init', '--yes', '--no-daemon']);
  const path = join(home, '.qwen/settings.json');
  const settings = JSON.parse(readFileSync(path, 'utf8')) as { hooks: { Stop: unknown[] }; theme?: string };
  settings.theme = 'dark';
  settings.hooks.Stop.unshift({ hooks: [{ type: 'command', command: 'theirs' }] });
  write(path, JSON.stringify(settings, undefined, 1));
  rmSync(join(home, '.gemini/settings.json'));
  chmodSync(join(home, '.claude/settings.json'), 0o640);
  const result = await capture(['uninstall']);
  expect(result.stdout).toContain('was changed since; only the entries of capture were taken out');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    a: 1,
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'theirs' }] }] },
    theme: 'dark',
  });
  expect(statSync(join(home, 'dotfiles/claude.json')).mode & 0o777).toBe(0o640);
});

test.each<[string, (state: string) => void]>([
  ['deleted', (state) => rmSync(state, { recursive: true })],
  ['damaged', (state) => write(join(state, 'hooks/qwen-code.json'), '{')],
])('uninstall takes the hooks out where what it noted of them was %s', async (_, spoil) => {
  const { home, capture } = await prepare();
  const broken = write(join(home, '.factory/settings.json'), 'never ours');
  await capture(['init', '--yes', '--no-daemon']);
  spoil(join(home, 'state'));
  const { exitCode, stderr } = await capture(['uninstall']);
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const path of ['.qwen/settings.json', '.gemini/settings.json', '.claude/settings.json']) {
    expect(readFileSync(join(home, path), 'utf8')).not.toContain('bin/hook');
  }
  expect(existsSync(join(home, '.copilot/hooks/session-capture.json'))).toBe(false);
  expect(readFileSync(broken, 'utf8')).toBe('never ours');
});

test('settings that became unreadable are left to the person, and the hook with them', async () => {
  const { home, capture } = await prepare();
  await capture(['init', '--yes', '--no-daemon']);
  write(join(home, '.qwen/settings.json'), 'not JSON');
  const result = await capture(['uninstall']);
  expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('1 file could not be put right.') });
  expect(statSync(join(home, 'state/bin/hook')).mode & 0o777).toBe(0o755);
});

test('a service that does not answer keeps nobody from installing', async () => {
  losePatience();
  const { home, service, capture } = await prepare();
  await service.stop();
  const result = await capture(['init', '--yes', '--no-daemon', '--agent', 'qwen-code']);
  expect(result.exitCode).toBe(0);
  expect(result.stderr).toContain('cannot be reached now. The machine is registered when it first sends.');
  expect(readFileSync(join(home, '.qwen/settings.json'), 'utf8')).toContain('session-capture');
});

test('a machine that was revoked gets no hooks', async () => {
  const { service, capture, before, tree } = await prepare();
  service.state.environmentStatus = 'revoked';
  const result = await capture(['init', '--yes', '--no-daemon']);
  expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('This machine was revoked') });
  expect(tree()).toEqual(before);
});

test('init does not install beside another installation, and says how to undo that one', async () => {
  const { home, capture, tree } = await prepare();
  const elsewhere = { variables: { CAPTURE_HOME: join(home, 'other one') } };
  expect((await capture(['init', '--yes', '--no-daemon'], elsewhere)).exitCode).toBe(0);
  const before = tree();
  const refused = await capture(['init', '--yes', '--no-daemon']);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain(`runs hooks of another installation of capture, whose folder is ${home}/other one;`);
  expect(refused.stderr).toContain(`\`CAPTURE_HOME='${home}/other one' capture uninstall\``);
  expect(tree()).toEqual(before);
  await capture(['uninstall'], elsewhere);
  expect((await capture(['init', '--yes', '--no-daemon'])).exitCode).toBe(0);
});

test('init does not let hooks run from a folder that others may write to', async () => {
  const { home, capture } = await prepare();
  mkdirSync(join(home, 'state'));
  chmodSync(join(home, 'state'), 0o777);
  const refused = await capture(['init', '--yes', '--no-daemon']);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`chmod go-w ${home}/state`) });
  chmodSync(join(home, 'state'), 0o755);
  expect((await capture(['init', '--yes', '--no-daemon'])).exitCode).toBe(0);
});

test('without a umask nothing that runs is open to others', async () => {
  const { home, capture } = await prepare();
  const before = process.umask(0);
  await capture(['init', '--yes', '--no-daemon']).finally(() => process.umask(before));
  for (const path of ['state', 'state/bin', 'state/bin/hook', '.copilot/hooks', '.cline/hooks/TaskComplete']) {
    expect([path, statSync(join(home, path)).mode & 0o022]).toEqual([path, 0]);
  }
});

const CURSOR = '.cursor/projects/shop/agent-transcripts/aaaa/aaaa.jsonl';
const SAID = `${JSON.stringify({ role: 'user', message: { content: [{ type: 'text', text: 'before the hooks' }] } })}\n`;

test('what Cursor wrote before its hooks are there is captured first', async () => {
  const { home, service, capture } = await prepare();
  write(join(home, CURSOR), SAID);
  const { exitCode, stderr } = await capture(['init', '--yes', '--no-daemon', '--agent', 'cursor']);
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Capturing what Cursor has written so far')]);
  expect(JSON.stringify([...service.state.sessions.values()])).toContain('before the hooks');
});

test('where that cannot be, the hooks are installed and it is said what is missing', async () => {
  losePatience();
  const { home, service, capture } = await prepare();
  write(join(home, CURSOR), SAID);
  await service.stop();
  const { exitCode, stderr } = await capture(['init', '--yes', '--no-daemon', '--agent', 'cursor']);
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringMatching(/written so far was not captured: .* is missing, unless/),
  ]);
  expect(readFileSync(join(home, '.cursor/hooks.json'), 'utf8')).toContain('hook cursor');
});
