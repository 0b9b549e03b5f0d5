import { appendFileSync, copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { codex } from '../agents/codex/codex.ts';
import { geminiCli } from '../agents/gemini-cli/gemini-cli.ts';
import { createPolicy } from '../privacy/policy.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openReading, spooledEvents, textsOf } from '../test/reading.ts';
import { mode, prompt, sessionId } from '../test/transcripts.ts';

test('a session gets the folder that its agent tells only to the model, masked like everything else', async () => {
  const root = makeFolder();
  const text = '<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/dev/hunter2\n';
  const lines = [
    { sessionId: 's1', projectHash: 'h', startTime: '2026-11-06T09:00:00.000Z', kind: 'main' },
    { $set: { messages: [{ id: '0', type: 'user', content: [{ text }] }] } },
  ];
  write(join(root, 'p/chats/session-t-s1.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const learned: string[] = [];
  const reading = openReading(root, ':memory:', {
    agent: geminiCli,
    redactor: {
      redact(events, { folder }) {
        if (folder !== undefined) learned.push(folder);
        return JSON.parse(JSON.stringify(events).replaceAll('hunter2', 'MASKED'));
      },
    },
  });
  await reading.read();
  expect(reading.spool.sessions.list()).toMatchObject([{ agentSession: 's1', cwd: '/home/dev/MASKED' }]);
  expect(learned).toEqual(['/home/dev/hunter2']);
  reading.spool.close();
});

test.each([
  ['a new file', ''],
  ['a file that has grown', `${prompt(1, 1, 'one')}\n${mode(1)}\n`],
])('%s that is read twice in one transaction is not taken over, so that nothing doubles', async (_name, before) => {
  const root = makeFolder();
  const file = write(join(root, 'p', `${sessionId(1)}.jsonl`), before);
  const reading = openReading(root);
  await reading.read();
  const known = textsOf(reading.spool, sessionId(1)).length;
  // Without a key, only the cursor shows that a line was met before.
  appendFileSync(file, `${mode(1, 'plan')}\n${mode(1, 'edit')}\n`);
  const work = reading.findWork();
  const [files = []] = work.sessions;
  expect(files).toHaveLength(1);
  expect(await reading.readWork({ ...work, sessions: [[...files, ...files]] })).toBe(false);
  expect(await reading.readWork({ ...work, sessions: [files, files] })).toBe(false);
  expect(textsOf(reading.spool, sessionId(1))).toHaveLength(known);
  expect(await reading.readWork(work)).toBe(true);
  expect(textsOf(reading.spool, sessionId(1))).toHaveLength(known + 2);
  reading.spool.close();
});

test('a file that was moved and copied meanwhile gives its new records once', async () => {
  const root = makeFolder();
  const path = (folder: string) => join(root, folder, `${sessionId(1)}.jsonl`);
  write(path('p'), `${prompt(1, 1, 'one')}\n${mode(1)}\n`);
  const reading = openReading(root);
  await reading.read();
  for (const folder of ['q', 'r']) mkdirSync(join(root, folder));
  renameSync(path('p'), path('q'));
  appendFileSync(path('q'), `${mode(1, 'plan')}\n`);
  copyFileSync(path('q'), path('r'));
  expect(await reading.read()).toBe(true);
  expect(await reading.read()).toBe(true);
  expect(textsOf(reading.spool, sessionId(1))).toHaveLength(3);
  reading.spool.close();
});

test('a session whose sub-agent is captured first is not its own parent', async () => {
  const root = makeFolder();
  const [parent, child] = ['11111111-2222-4333-8444-555555555555', '22222222-3333-7444-8555-666666666666'];
  const rollout = (id: string, meta: object) =>
    write(
      join(root, `2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`),
      `${JSON.stringify({ timestamp: '2026-11-01T10:00:00.000Z', type: 'session_meta', payload: { id, cwd: '/src', ...meta } })}\n`,
    );
  const source = { subagent: { thread_spawn: { parent_thread_id: parent } } };
  rollout(child, { forked_from_id: parent, source });
  const reading = openReading(root, ':memory:', { agent: codex });
  await reading.read();
  const parentOf = () =>
    reading.spool.sessions.list().map(({ agentSession, forkedFrom }) => [agentSession, forkedFrom]);
  expect(parentOf()).toEqual([[parent, undefined]]);
  rollout(parent, { forked_from_id: 'origin' });
  await reading.read();
  expect(parentOf()).toEqual([[parent, 'origin']]);
  reading.spool.close();
});

test('a session that shares its records with a skipped fork asks once about the fork', async () => {
  const root = makeFolder();
  const [own, fork] = [sessionId(1), sessionId(2)];
  const records = (named: string) =>
    Array.from({ length: 50 }, (_, id) => prompt(1, id, `prompt ${id}`, { cwd: root, sessionId: named }));
  write(join(root, `${own}.jsonl`), `${records(own).join('\n')}\n`);
  write(join(root, `${fork}.jsonl`), `${[...records(fork), prompt(2, 99, 'more')].join('\n')}\n`);
  const path = join(root, 'spool.db');
  const spool = openSpool(path);
  onTestFinished(spool.close);
  spool.decisions.decide('claude-code', fork, 'skipped', 1);
  const policy = createPolicy({ ...spool, home: root, variables: {}, platform: 'linux', now: Date.now });
  const reading = openReading(root, path, { policy });
  const work = reading.findWork();
  const find = vi.spyOn(reading.spool.decisions, 'find');
  expect(await reading.readWork(work)).toBe(true);
  expect([...spooledEvents(reading.spool).keys()]).toEqual([own]);
  expect(find.mock.calls.length).toBeLessThan(10);
});
