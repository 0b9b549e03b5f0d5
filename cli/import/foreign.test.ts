import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

async function importFile(agent: string, contents: string) {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const path = write(join(home, 'notes.txt'), contents);
  const args = ['import', '--agent', agent, path];
  const result = await run(args, { home, url: service.url, secret: 'sk_live_test' });
  return { ...result, sessions: service.state.sessions.size };
}

const ACCOUNTS = 'root:x:0:0:root:/root:/bin/bash\n';
const DIARY = '{"mood":"fine","text":"dear diary"}\n{"mood":"bad"}\n';

test.each([
  ...['claude-code', 'codex', 'pi', 'cursor', 'aider', 'custom'].map((agent) => [agent, ACCOUNTS] as const),
  ...['claude-code', 'codex', 'gemini-cli', 'custom'].map((agent) => [agent, DIARY] as const),
  ['claude-code', ''] as const,
])('a file without any record of %s is refused, and nothing is sent: %j', async (agent, contents) => {
  const { exitCode, stderr, sessions } = await importFile(agent, contents);
  expect([exitCode, sessions]).toEqual([2, 0]);
  expect(stderr).toMatch(/^error: .*notes\.txt contains no record of .*\.\nhint: Check the path and --agent\./);
});

test.each([
  ['claude-code', `not a record\n${prompt(1, 0, 'one')}\n`],
  ['claude-code', `{"long":"${'x'.repeat(2_000_000)}"}\n${prompt(1, 0, 'one')}\n`.split('\n').reverse().join('\n')],
  ['aider', '# aider chat started at 2026-01-01 00:00:00\n\n#### hello  \n'],
  ['custom', '{"type":"user.message","text":"hello"}\n'],
])('a transcript of %s under another name is captured', async (agent, contents) => {
  const { exitCode, sessions } = await importFile(agent, contents);
  expect([exitCode, sessions]).toEqual([0, 1]);
});

test('if one named file is not a transcript, import names it, captures the others and exits with 1', async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const good = [1, 2].map((session) => write(join(home, `${session}.jsonl`), `${prompt(session, 0, 'one')}\n`));
  const notes = write(join(home, 'notes.txt'), ACCOUNTS);
  const args = ['import', '--agent', 'claude-code', good[0] ?? '', notes, good[1] ?? ''];
  const { exitCode, stderr } = await run(args, { home, url: service.url, secret: 'sk_live_test' });
  expect([exitCode, service.state.sessions.size]).toEqual([1, 2]);
  expect(stderr).toContain('notes.txt contains no record of Claude Code.');
  expect(stderr).toMatch(/1 path could not be read\.\nhint: The others were read\./);
});

test.each([['import'], ['login', '--secret-stdin']])(
  '%s refuses a state folder that other users may write to',
  async (...args) => {
    const home = makeFolder();
    mkdirSync(join(home, 'state'));
    chmodSync(join(home, 'state'), 0o777);
    const { exitCode, stderr } = await run(args, { home, url: 'http://127.0.0.1:9', secret: 'sk_live_test' });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is writable by other users')]);
  },
);

test('a folder without any file named like a transcript is refused, with a hint', async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  write(join(home, 'old', 'copilot.txt'), '{}\n');
  const args = ['import', '--agent', 'copilot-cli', join(home, 'old')];
  const { exitCode, stderr } = await run(args, { home, url: service.url, secret: 'sk_live_test' });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/error: .*old contains no transcript of .*Copilot.*\.\nhint: .*import --agent ID FILE/);
});

test("a folder with another agent's transcripts is refused, and nothing is sent", async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  write(join(home, 'old', 'a.jsonl'), `${prompt(1, 0, 'one')}\n`);
  const options = { home, url: service.url, secret: 'sk_live_test' };
  const { exitCode, stderr } = await run(['import', '--agent', 'codex', join(home, 'old')], options);
  expect([exitCode, service.state.sessions.size]).toEqual([2, 0]);
  expect(stderr).toMatch(/error: .*old contains no record of Codex\.\nhint: Check the path and --agent\./);
  expect((await run(['import', '--agent', 'claude-code', join(home, 'old')], options)).exitCode).toBe(0);
});

test("the named agent's transcripts in a mixed folder are captured, and the others are reported", async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const folder = join(home, 'old');
  write(join(folder, 'a.jsonl'), `${prompt(1, 0, 'one')}\n`);
  write(join(folder, 'journal.jsonl'), DIARY);
  write(
    join(folder, 'b.jsonl'),
    `${JSON.stringify({ type: 'event_msg', payload: { type: 'user_message', message: 'hi' } })}\n`,
  );
  const options = { home, url: service.url, secret: 'sk_live_test' };
  const { exitCode, stderr } = await run(['import', '--agent', 'claude-code', folder], options);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/b\.jsonl is left out: it contains no record of Claude Code, but of Codex\.$/m);
  expect(stderr).not.toMatch(/journal\.jsonl|a\.jsonl/);
  const events = [...service.eventsBySession().values()].flat();
  expect(events.map(({ eventType }) => eventType).sort()).toEqual(['record', 'record', 'user.message']);
});

test('links that lead out of the folder are reported and not followed', async () => {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const folder = join(home, 'old');
  write(join(folder, 'in', 'a.jsonl'), `${prompt(1, 0, 'one')}\n`);
  write(join(home, 'private', 'b.jsonl'), `${prompt(2, 0, 'two')}\n`);
  const links = {
    'again.jsonl': 'in/a.jsonl',
    'file.jsonl': '../private/b.jsonl',
    folder: '../private',
    other: 'gone',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name));
  const options = { home, url: service.url, secret: 'sk_live_test' };
  const { exitCode, stderr } = await run(['import', '--agent', 'claude-code', folder], options);
  expect(exitCode).toBe(1);
  expect(stderr.match(/old\/\S+ cannot be read: it is a link to outside of/g)).toHaveLength(2);
  expect([...service.eventsBySession().keys()]).toEqual([sessionId(1)]);
});

test('unreadable paths of a folder without transcripts are named', async () => {
  const home = makeFolder();
  const name = 'n'.repeat(250);
  const nest = `mkdir -p "$1" && cd "$1" && for i in $(seq 17); do mkdir ${name} && cd ${name}; done`;
  spawnSync('sh', ['-c', nest, 'sh', join(home, 'deep')]);
  onTestFinished(() => void spawnSync('rm', ['-rf', join(home, 'deep')]));
  const args = ['import', '--agent', 'codex', join(home, 'deep')];
  const { exitCode, stderr } = await run(args, { home, url: 'http://127.0.0.1:1', secret: 'sk_live_test' });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/cannot be read: .*name too long/);
  expect(stderr).toMatch(/error: .*deep contains no transcript of Codex:/);
});

test.each([
  ['import', ''],
  ['init', '--dry-run', '--history', ''],
])('an empty path is not a folder: %s', async (...args) => {
  const { exitCode, stderr } = await run(args, {
    home: makeFolder(),
    url: 'http://127.0.0.1:1',
    secret: 'sk_live_test',
  });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/error: .* is empty\.\nhint: .*/);
});
