import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentId } from '../../contract/agent.ts';
import { makeFolder, write } from '../test/folder.ts';
import { createContext } from '../test/program.ts';
import { AGENT_HOOKS } from './all.ts';
import { isChange } from './change.ts';
import { type HookState, inspectHooks } from './inspect.ts';
import { applyChange } from './install.ts';
import { booksOf, planHooks } from './plan.ts';

function prepare() {
  const home = makeFolder();
  const { context } = createContext({ home, variables: { PATH: join(home, 'programs') } });
  const install = (id: AgentId) => {
    const row = AGENT_HOOKS.find((known) => known.id === id);
    for (const change of row ? planHooks(context, row).filter(isChange) : []) applyChange(change, booksOf(context, id));
  };
  const inspect = async (id: AgentId): Promise<HookState | undefined> =>
    (await inspectHooks(context, { root: join(home, 'root') })).find(({ agent }) => agent === id);
  return { home, install, inspect };
}

test('an agent that is not there is told as such', async () => {
  const { inspect } = prepare();
  expect(await inspect('codex')).toMatchObject({ found: false, hooks: 'missing', name: 'Codex' });
});

test('an agent is found by its program, which says its version, or by its folder', async () => {
  const { home, inspect } = prepare();
  const program = write(join(home, 'programs/claude'), '#!/bin/sh\necho "2.1.260 (Claude Code)"\n', 0o755);
  mkdirSync(join(home, '.factory'));
  expect(await inspect('claude-code')).toMatchObject({ found: true, program, version: '2.1.260' });
  const droid = await inspect('droid');
  expect(droid).toMatchObject({ found: true });
  expect(droid?.version).toBeUndefined();
});

test('installed hooks are told from partial, missing and unparsable ones', async () => {
  const { home, install, inspect } = prepare();
  const path = join(home, '.claude/settings.json');
  install('claude-code');
  expect(await inspect('claude-code')).toMatchObject({ hooks: 'installed', files: [path] });
  write(path, '{"hooks": {}}');
  expect(await inspect('claude-code')).toMatchObject({ hooks: 'missing' });
  const command = `[ -x ${home}/state/bin/hook ] && exec ${home}/state/bin/hook claude-code`;
  write(path, JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }));
  expect(await inspect('claude-code')).toMatchObject({ hooks: 'partial' });
  write(path, '{"hooks": ');
  expect(await inspect('claude-code')).toMatchObject({ hooks: 'unparsable' });
  expect(await inspect('opencode')).toMatchObject({ hooks: 'none', files: [] });
});

test.each<[AgentId, path: string, settings: object, reason: RegExp]>([
  ['claude-code', '.claude/settings.json', { disableAllHooks: true }, /^"disableAllHooks" is set in .*settings\.json$/],
  ['claude-code', 'root/etc/claude-code/managed-settings.json', { allowManagedHooksOnly: true }, /managed-settings/],
  ['gemini-cli', '.gemini/settings.json', { hooksConfig: { enabled: false } }, /"hooksConfig.enabled" is false/],
  ['qwen-code', '.qwen/settings.json', { hooksConfig: { disabled: ['session-capture'] } }, /names session-capture/],
  ['copilot-cli', '.copilot/settings.json', { disableAllHooks: true }, /"disableAllHooks"/],
])('what silences the hooks of %s is found in %s', async (agent, path, settings, reason) => {
  const { home, inspect } = prepare();
  expect((await inspect(agent))?.disabled).toBeUndefined();
  write(join(home, path), JSON.stringify(settings));
  expect((await inspect(agent))?.disabled).toMatch(reason);
});

test('a setting that only a policy may make is no reason elsewhere', async () => {
  const { home, inspect } = prepare();
  write(join(home, '.claude/settings.json'), JSON.stringify({ allowManagedHooksOnly: true }));
  expect((await inspect('claude-code'))?.disabled).toBeUndefined();
});

test.each<[AgentId, path: string, settings: object, days: number | undefined]>([
  ['claude-code', '.claude/settings.json', {}, 30],
  ['claude-code', '.claude/settings.json', { cleanupPeriodDays: 7 }, 7],
  ['gemini-cli', '.gemini/settings.json', { general: { sessionRetention: { maxAge: '2w' } } }, 14],
  ['gemini-cli', '.gemini/settings.json', { general: { sessionRetention: { enabled: false } } }, undefined],
])('after how long %s deletes its transcripts is read from %s %o', async (agent, path, settings, days) => {
  const { home, inspect } = prepare();
  write(join(home, path), JSON.stringify(settings));
  expect((await inspect(agent))?.retention?.days).toBe(days);
});

test('when a hook last rang is when its note was written', async () => {
  const { home, inspect } = prepare();
  expect((await inspect('codex'))?.lastFiredAt).toBeUndefined();
  utimesSync(write(join(home, 'state/notes/codex'), ''), 1000, 1000);
  expect((await inspect('codex'))?.lastFiredAt).toBe(1_000_000);
});

test('Codex trusts our hooks when its configuration has a hash for each of them', async () => {
  const { home, install, inspect } = prepare();
  write(
    join(home, '.codex/hooks.json'),
    '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}',
  );
  install('codex');
  expect(await inspect('codex')).toMatchObject({ hooks: 'installed', trusted: false });
  const keys = ['session_start:0', 'user_prompt_submit:0', 'post_tool_use:0', 'subagent_stop:0', 'session_end:0'];
  const trust = (key: string) => `[hooks.state."${home}/.codex/hooks.json:${key}:0"]\ntrusted_hash = "sha256:00"\n\n`;
  write(join(home, '.codex/config.toml'), [...keys, 'stop:0'].map(trust).join(''));
  expect(await inspect('codex')).toMatchObject({ trusted: false });
  write(join(home, '.codex/config.toml'), [...keys, 'stop:1'].map(trust).join(''));
  expect(await inspect('codex')).toMatchObject({ trusted: true });
});

test('a file of Codex that cannot be read as JSON is told of, and keeps nothing else from being told', async () => {
  const { home, install, inspect } = prepare();
  install('codex');
  write(join(home, '.codex/hooks.json'), '{"hooks": ');
  expect(await inspect('codex')).toMatchObject({ hooks: 'unparsable' });
});

test.each<[string, (path: string) => void]>([
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a link round in a circle', (path) => symlinkSync(path, path)],
  ['endless', (path) => symlinkSync('/dev/zero', path)],
  ['huge', (path) => truncateSync(write(path, ''), 2 ** 31)],
  ['nested deeply', (path) => write(path, `{"a": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`)],
  [
    'nested deeply among the hooks',
    (path) => write(path, `{"hooks": {"Stop": [${'['.repeat(3000)}${']'.repeat(3000)}]}}`),
  ],
])(
  'settings that are %s are left alone, soon',
  async (_, spoil) => {
    const { home, inspect } = prepare();
    mkdirSync(join(home, '.qwen'));
    spoil(join(home, '.qwen/settings.json'));
    expect(await inspect('qwen-code')).toMatchObject({ hooks: 'unparsable' });
  },
  5000,
);

test.each(['{', '5', '{"deeds": 5}', ''])(
  'notes about changes that are damaged, as %j, keep nothing from being told',
  async (text) => {
    const { home, install, inspect } = prepare();
    for (const id of ['codex', 'copilot-cli'] as const) install(id);
    for (const id of ['codex', 'codex-trust', 'copilot-cli', 'daemon'])
      write(join(home, `state/hooks/${id}.json`), text);
    expect(await inspect('codex')).toMatchObject({ hooks: 'installed', trusted: false });
    expect(await inspect('copilot-cli')).toMatchObject({ hooks: 'installed' });
  },
);
