import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../agents/agent.ts';
import { claudeCode } from '../../agents/claude-code/claude-code.ts';
import { codex } from '../../agents/codex/codex.ts';
import { rootsIn } from '../../agents/more-folders.ts';
import { ohMyPi } from '../../agents/oh-my-pi/oh-my-pi.ts';

const A = '11111111-2222-4333-8444-555555555555';
const B = '22222222-3333-7444-8555-666666666666';
const rollout = (id: string) => `2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`;
const meta = (payload: JsonObject): JsonObject => ({ type: 'session_meta', payload });
const spawned = { subagent: { thread_spawn: { parent_thread_id: A } } };

describe('a file belongs to its session', () => {
  test.each([
    ['a session', claudeCode, `-p/${A}.jsonl`, undefined, { session: A }],
    [
      'a fork with records that name its parent',
      claudeCode,
      `-p/${A}.jsonl`,
      { sessionId: B },
      { session: A, forkedFrom: B },
    ],
    [
      'a branch',
      claudeCode,
      `-p/${A}.jsonl`,
      { sessionId: A, forkedFrom: { sessionId: B } },
      { session: A, forkedFrom: B },
    ],
    ['a sub-agent', claudeCode, `-p/${A}/subagents/agent-x1.jsonl`, undefined, { session: A, subagent: 'x1' }],
    [
      'a sub-agent of a workflow',
      claudeCode,
      `-p/${A}/subagents/workflows/r/agent-x1.jsonl`,
      {},
      { session: A, subagent: 'x1' },
    ],
    ['a journal', claudeCode, `-p/${A}/subagents/workflows/r/journal.jsonl`, {}, { session: A }],
    ['a sub-agent, old layout', claudeCode, '-p/agent-x1.jsonl', { sessionId: A }, { session: A, subagent: 'x1' }],
    ['a copy', claudeCode, '-p/full.jsonl', { sessionId: B, version: '2.0.1' }, { session: B, agentVersion: '2.0.1' }],
    ['a copy without a name', claudeCode, '-p/full.jsonl', { type: 'summary' }, { session: '-p/full' }],
    ['a thread', codex, rollout(B), meta({ id: B, cli_version: '0.145.0' }), { session: B, agentVersion: '0.145.0' }],
    ['a damaged thread', codex, rollout(B), undefined, { session: B }],
    ['a thread that lost its own first record', codex, rollout(B), meta({ id: A, cwd: '/a' }), { session: B }],
    ['a further file of a thread', codex, rollout(`${A}_${B}`), meta({ id: A, cwd: '/a' }), { session: A, cwd: '/a' }],
    ['a further file without its first record', codex, rollout(`${A}_${B}`), undefined, { session: A }],
    [
      'a further file of a sub-agent',
      codex,
      rollout(`${B}_${A}`),
      meta({ id: B, source: spawned }),
      { session: A, subagent: B },
    ],
    ['a fork', codex, rollout(B), meta({ id: B, forked_from_id: A }), { session: B, forkedFrom: A }],
    ['a sub-agent', codex, rollout(B), meta({ id: B, source: spawned }), { session: A, subagent: B }],
    [
      'a review',
      codex,
      rollout(B),
      meta({ id: B, source: { subagent: 'review' }, parent_thread_id: A }),
      { session: A, subagent: B },
    ],
    ['a sub-agent without parent', codex, rollout(B), meta({ id: B, source: { subagent: 'review' } }), { session: B }],
    ['a copy', codex, 'x/full.jsonl', meta({ id: B }), { session: B }],
    [
      'a thread without envelope',
      codex,
      rollout(B),
      { id: B, git: { branch: 'main' } },
      { session: B, branch: 'main' },
    ],
  ])('%s', (_name, agent, path, first, origin) => {
    expect(agent.identify({ root: '/r', path }, first as JsonObject | undefined)).toEqual(origin);
  });
});

describe('records with the same key', () => {
  const place = (session: string, subagent?: string) => ({
    origin: { session, ...(subagent !== undefined && { subagent }) },
    file: 'f',
    position: 0,
  });

  test('a record of Claude Code repeated in another session has the same key', () => {
    const record = { type: 'user', uuid: A, timestamp: 't', sessionId: A };
    expect(claudeCode.recordKey({ ...record, sessionId: B }, place(B))).toBe(claudeCode.recordKey(record, place(A)));
    expect(claudeCode.recordKey({ type: 'mode' }, place(A))).toBeUndefined();
    expect(claudeCode.recordKey({ ...record, uuid: 'a1' }, place(A))).toBeUndefined();
  });

  test('a record of Claude Code that a fork copies under a new id has the key of the original', () => {
    const record = { type: 'user', uuid: A, timestamp: 't', sessionId: A };
    const copy = { ...record, uuid: B, sessionId: B, forkedFrom: { sessionId: A, messageUuid: A } };
    expect(claudeCode.recordKey(copy, place(B))).toBe(claudeCode.recordKey(record, place(A)));
    expect(claudeCode.recordKey({ ...copy, timestamp: 'u' }, place(B))).not.toBe(claudeCode.recordKey(copy, place(B)));
  });

  test('a numbered record of Codex has the same key only within its thread', () => {
    const record = {
      type: 'event_msg',
      timestamp: '2026-11-01T10:00:00Z',
      ordinal: 3,
      payload: { type: 'task_started' },
    };
    expect(codex.recordKey(record, place(A))).toBe(codex.recordKey({ ...record }, place(A)));
    expect(codex.recordKey(record, place(A))).not.toBe(codex.recordKey(record, place(A, B)));
    expect(codex.recordKey({ ...record, timestamp: '[removed]' }, place(A))).toBeUndefined();
  });

  test('a copied record of Codex with a new time has the same key only if its id and content are the same', () => {
    const call = (payload: JsonObject, timestamp = 't') =>
      codex.recordKey({ type: 'response_item', timestamp, payload: { type: 'function_call', ...payload } }, place(A));
    expect(call({ call_id: 'c', arguments: '1' }, 'later')).toBe(call({ call_id: 'c', arguments: '1' }));
    expect(call({ call_id: 'c', arguments: '2' })).not.toBe(call({ call_id: 'c', arguments: '1' }));
    expect(call({ arguments: '1' })).toBeUndefined();
  });
});

test("oh-my-pi's sub-agents belong to the session that their folder is named after, and profiles have sessions, too", () => {
  const header = { type: 'session', id: B, cwd: '/a' };
  const file = (path: string) => ohMyPi.identify({ root: '/r', path }, header);
  const review = `-shop/2026-11-20T09-00-00-000Z_${A}/Review.jsonl`;
  expect(file(`-shop/2026-11-20T09-00-00-000Z_${A}.jsonl`)).toEqual({ session: A, cwd: '/a' });
  expect(file(review)).toEqual({ session: A, subagent: 'Review', cwd: '/a' });
  const withoutHeader = ohMyPi.identify({ root: '/r', path: review }, { type: 'title', title: '' });
  expect(withoutHeader).toEqual({ session: A, subagent: 'Review' });
  const profile = `work/agent/sessions/-shop/2026-11-20T09-00-00-000Z_${A}.jsonl`;
  expect(file(profile)).toEqual({ session: A, cwd: '/a' });
  expect([profile, 'work/agent/history.jsonl'].map((path) => ohMyPi.isTranscript(path))).toEqual([true, false]);
  expect(ohMyPi.roots({ XDG_DATA_HOME: '/x' }, '/h')).toEqual([
    '/h/.omp/agent/sessions',
    '/h/.omp/profiles',
    '/x/omp/sessions',
  ]);
  expect(rootsIn(ohMyPi, '/mnt/c/Users/ada/.omp', '/h')).toContain('/mnt/c/Users/ada/.omp/agent/sessions');
});

test('a title of oh-my-pi that is written over is another record', () => {
  const keyOf = (title: string) =>
    ohMyPi.recordKey({ type: 'title', title }, { origin: { session: A }, file: 'f', position: 0 });
  expect(keyOf('one')).toBe(keyOf('one'));
  expect(keyOf('one')).not.toBe(keyOf('two'));
});

test("the agents' folders follow their environment variables", () => {
  expect(claudeCode.roots({}, '/home/dev')[0]).toBe('/home/dev/.claude/projects');
  expect(claudeCode.roots({ CLAUDE_CONFIG_DIR: '/c' }, '/home/dev')[0]).toBe('/c/projects');
  expect(codex.roots({ CODEX_HOME: '/x' }, '/home/dev')).toEqual(['/x/sessions', '/x/archived_sessions']);
  expect(claudeCode.isTranscript('-p/s/tool-results/a.jsonl')).toBe(false);
  expect(claudeCode.isTranscript('-p/s/subagents/agent-x1.meta.json')).toBe(false);
});

test('sessions of Claude Cowork are found on every system, without the audit log that repeats them', () => {
  const roots = claudeCode.roots({ APPDATA: '/r' }, '/h');
  const below = 'Claude/local-agent-mode-sessions';
  expect(roots).toEqual(
    expect.arrayContaining([`/h/Library/Application Support/${below}`, `/h/.config/${below}`, `/r/${below}`]),
  );
  expect(claudeCode.isTranscript(`a/b/local_1/.claude/projects/-p/${A}.jsonl`)).toBe(true);
  expect(claudeCode.isTranscript('a/b/local_1/audit.jsonl')).toBe(false);
  expect(claudeCode.isTranscript('local_1/audit.jsonl')).toBe(false);
});
