import { cpSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AGENTS } from '../agents/all.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { prompt } from '../test/transcripts.ts';
import { recognizeAgents } from './recognize.ts';

const FIXTURES = join(import.meta.dirname, '../test/agents/fixtures');

/** One fixture each, with a name that does not show its agent. */
const FILES = {
  'claude-code': '-home-dev-shop/11111111-2222-4333-8444-555555555555.jsonl',
  codex: '2026/11/01/rollout-2026-11-01T10-00-00-22222222-3333-7444-8555-666666666666.jsonl',
  'copilot-cli': '66666666-7777-4888-8999-aaaaaaaaaaaa.jsonl',
  cursor: 'bbbbbbbb-1111-4222-8333-444444444444.jsonl',
  custom: 'nightly/42.jsonl',
  droid: '-home-dev-shop/bbbbbbbb-cccc-4ddd-8eee-ffffffffffff.jsonl',
  'gemini-cli': 'shop/chats/session-2026-11-06T09-00-dddddddd.jsonl',
  'oh-my-pi': '-shop/2026-11-20T09-00-00-000Z_01a22386-a0fc-73c6-8411-7e7dfd19ed70.jsonl',
  pi: '--home-dev-shop--/2025-06-01T09-00-00-000Z_aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee.jsonl',
  'qwen-code': '-home-dev-shop/chats/77777777-8888-4999-8aaa-bbbbbbbbbbbb.jsonl',
};

test.each(Object.entries(FILES))('a file of %s is recognised by its records', (agent, file) => {
  const path = join(makeFolder(), 'full.jsonl');
  cpSync(join(FIXTURES, agent, file), path);
  expect(recognizeAgents(path, AGENTS).map(({ id }) => id)).toEqual([agent]);
});

test('a file that several related programs may have written causes a question with the command', () => {
  const folder = makeFolder();
  cpSync(join(FIXTURES, 'roo-code'), folder, { recursive: true });
  expect(() => recognizeAgents(folder, AGENTS)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^It is not clear which agent wrote \S+\.json: kilo or cline or roo-code\.$/),
      hint: `capture import --agent kilo ${folder}   # or --agent cline, --agent roo-code`,
    }),
  );
});

async function importPath(path: string, options: readonly string[] = []) {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const result = await run(['import', ...options, path], { home, url: service.url, secret: 'sk_live_test' });
  return { ...result, sessions: service.state.sessions.size };
}

test('a folder with sessions of two agents is imported without --agent', async () => {
  const folder = join(makeFolder(), 'old');
  mkdirSync(folder);
  write(join(folder, 'one.jsonl'), `${prompt(1, 0, 'one')}\n`);
  cpSync(join(FIXTURES, 'codex', FILES.codex), join(folder, basename(FILES.codex)));
  const { exitCode, sessions, stderr } = await importPath(folder);
  expect({ exitCode, sessions }).toEqual({ exitCode: 0, sessions: 2 });
  expect(stderr).toContain(`${folder} contains transcripts of Claude Code, Codex.`);
});

test('a folder that no agent has written to is refused, with a hint', async () => {
  const folder = makeFolder();
  write(join(folder, 'diary.jsonl'), '{"mood":"fine"}\n');
  const { exitCode, stderr, sessions } = await importPath(folder);
  expect({ exitCode, sessions }).toEqual({ exitCode: 2, sessions: 0 });
  expect(stderr).toMatch(
    /^error: \S+ contains no record that identifies its agent\.\nhint: Name the agent with --agent, one of: claude-code, /,
  );
});

/** A folder with an export of OpenCode and another file. */
function makeExports(): string {
  const folder = join(makeFolder(), 'exports');
  mkdirSync(folder);
  cpSync(join(FIXTURES, 'opencode/named/export.json'), join(folder, 'mine.json'));
  write(join(folder, 'package.json'), '{"name":"shop"}');
  return folder;
}

test('a folder of exports of OpenCode is imported, and other files in it are left out', async () => {
  const { exitCode, sessions, stderr } = await importPath(makeExports(), ['--agent', 'opencode']);
  expect({ exitCode, sessions }).toEqual({ exitCode: 0, sessions: 1 });
  expect(stderr).toMatch(/package\.json is left out: it contains no record of OpenCode\.$/m);
});

test('a folder of exports that two related programs may have written causes a question', async () => {
  const { exitCode, stderr } = await importPath(makeExports());
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(
    /It is not clear which agent wrote \S+mine\.json: opencode or kilo\.\nhint: capture import --agent/,
  );
});
