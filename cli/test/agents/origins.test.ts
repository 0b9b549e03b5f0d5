import { describe, expect, test } from 'vitest';
import type { Agent, JsonObject, Origin } from '../../agents/agent.ts';
import { claudeCode } from '../../agents/claude-code/claude-code.ts';
import { copilotCli } from '../../agents/copilot-cli/copilot-cli.ts';
import { cursor } from '../../agents/cursor/cursor.ts';
import { droid } from '../../agents/droid/droid.ts';
import { geminiCli } from '../../agents/gemini-cli/gemini-cli.ts';
import { pi } from '../../agents/pi/pi.ts';
import { qwenCode } from '../../agents/qwen-code/qwen-code.ts';

const A = '11111111-2222-4333-8444-555555555555';
const B = '22222222-3333-4444-8555-666666666666';

type Case = [name: string, agent: Agent, path: string, first: JsonObject | undefined, origin: Origin];

const started = { type: 'session.start', data: { sessionId: A, copilotVersion: '1.0.9', context: { cwd: '/c' } } };

const hooked = { name: 'n', event: { conversation_id: A, cursor_version: '3.1', workspace_roots: ['/c'] } };

const CASES: Case[] = [
  ['a session', copilotCli, `${A}/events.jsonl`, started, { session: A, agentVersion: '1.0.9', cwd: '/c' }],
  ['a session that lost its start', copilotCli, `${A}/events.jsonl`, { type: 'abort' }, { session: A }],
  ['an empty session of an old version', copilotCli, `${A}.jsonl`, undefined, { session: A }],
  [
    'a chat',
    qwenCode,
    `-p/chats/${A}.jsonl`,
    { version: '0.24.4', gitBranch: '' },
    { session: A, agentVersion: '0.24.4' },
  ],
  ['a fork', qwenCode, `-p/chats/${A}.jsonl`, { forkedFrom: { sessionId: B } }, { session: A, forkedFrom: B }],
  ['a sub-agent', qwenCode, `-p/subagents/${A}/agent-x.jsonl`, { sessionId: A }, { session: A, subagent: 'x' }],
  [
    'a session',
    pi,
    `--p--/2026-11-04T09-00-00-000Z_${A}.jsonl`,
    { type: 'session', id: A, cwd: '/c' },
    { session: A, cwd: '/c' },
  ],
  [
    'a fork',
    pi,
    `--p--/t_${A}.jsonl`,
    { type: 'session', id: A, parentSession: `/s/t_${B}.jsonl` },
    { session: A, forkedFrom: B },
  ],
  ['a copy', pi, 'full.jsonl', { type: 'session', id: A }, { session: A }],
  [
    'a session',
    droid,
    `-c/${A}.jsonl`,
    { type: 'session_start', id: A, version: 2, cwd: '/c' },
    { session: A, cwd: '/c' },
  ],
  [
    'a sub-agent',
    droid,
    `-c/${B}.jsonl`,
    { type: 'session_start', id: B, callingSessionId: A },
    { session: A, subagent: B },
  ],
  ['a conversation recorded by hooks', cursor, `${A}.jsonl`, hooked, { session: A, agentVersion: '3.1', cwd: '/c' }],
  [
    'a conversation with an unusual id',
    cursor,
    'abcd.jsonl',
    { name: 'n', event: { session_id: 'x/y' } },
    { session: 'x/y' },
  ],
  ['unreadable input of hooks', cursor, 'unreadable.jsonl', { unreadable: {} }, { session: 'unreadable' }],
  ['a transcript', cursor, `c/agent-transcripts/${A}.jsonl`, { role: 'user' }, { session: A }],
  ['a transcript of the editor', cursor, `c/agent-transcripts/${A}/${A}.jsonl`, { role: 'user' }, { session: A }],
  ['a sub-agent', cursor, `c/agent-transcripts/${A}/subagents/${B}.jsonl`, {}, { session: A, subagent: B }],
  ['a session', geminiCli, 'p/chats/session-t-11111111.jsonl', { sessionId: A, projectHash: 'h' }, { session: A }],
  ['a sub-agent', geminiCli, `p/chats/${A}/x.jsonl`, { sessionId: B }, { session: A, subagent: 'x' }],
  ['a document of an old version', geminiCli, 'p/chats/session-t-11111111.json', { sessionId: A }, { session: A }],
  ['a session that lost its header', pi, 'x.jsonl', { type: 'message', id: 'e1' }, { session: 'x' }],
];

describe('a file belongs to its session', () => {
  test.each(CASES)('%s', (_name, agent, path, first, origin) => {
    expect(agent.identify({ root: '/r', path }, first)).toEqual(origin);
  });
});

describe('the folders and transcripts of agents', () => {
  test.each<[agent: Agent, variables: { [name: string]: string }, root: string]>([
    [copilotCli, {}, '/home/dev/.copilot/session-state'],
    [copilotCli, { COPILOT_HOME: '/c' }, '/c/session-state'],
    [cursor, {}, '/home/dev/.cursor/projects'],
    [cursor, {}, '/home/dev/.capture/sessions/cursor'],
    [cursor, { CAPTURE_HOME: '/s' }, '/s/sessions/cursor'],
    [droid, {}, '/home/dev/.factory/sessions'],
    [droid, { FACTORY_HOME_OVERRIDE: '/f' }, '/f/.factory/sessions'],
    [geminiCli, {}, '/home/dev/.gemini/tmp'],
    [geminiCli, { GEMINI_CLI_HOME: '/g' }, '/g/.gemini/tmp'],
    [pi, {}, '/home/dev/.pi/agent/sessions'],
    [pi, { PI_CODING_AGENT_DIR: '/p' }, '/p/sessions'],
    [pi, { PI_CODING_AGENT_SESSION_DIR: '/s' }, '/s'],
    [qwenCode, { QWEN_HOME: '/q' }, '/q/projects'],
    [qwenCode, { QWEN_HOME: '/q', QWEN_RUNTIME_DIR: '/r' }, '/r/projects'],
  ])('$id', (agent, variables, root) => {
    expect(agent.roots(variables, '/home/dev')).toContain(root);
  });

  test.each<[agent: Agent, path: string, isTranscript: boolean]>([
    [copilotCli, `${A}/events.jsonl`, true],
    [copilotCli, `${A}/files/data.jsonl`, false],
    [copilotCli, `${A}/workspace.yaml`, false],
    [droid, `-c/${A}.settings.json`, false],
    [cursor, `c/agent-transcripts/${A}.txt`, false],
    [cursor, `${A}.complete`, false],
    [cursor, 'c/terminals/1.jsonl', false],
    [geminiCli, 'p/chats/session-t-11111111.jsonl', true],
    [geminiCli, 'p/chats/session-t-11111111.json', true],
    [geminiCli, 'p/chats/session-t-11111111.jsonl.tmp-7', false],
    [geminiCli, 'p/logs.json', false],
    [qwenCode, `-p/chats/${A}.jsonl`, true],
    [qwenCode, '-p/logs.jsonl', false],
  ])('$id: %s', (agent, path, isTranscript) => {
    expect(agent.isTranscript(path)).toBe(isTranscript);
  });
});

test('a record has the same key only with the same id, type and time', () => {
  const place = { origin: { session: A }, file: 'f', position: 0 };
  const record = { id: A, type: 'abort', timestamp: '2026-11-01T10:00:00Z' };
  const key = copilotCli.recordKey(record, place);
  expect(copilotCli.recordKey({ ...record, parentId: 'other' }, place)).toBe(key);
  expect(copilotCli.recordKey({ ...record, timestamp: '2026-11-01T10:00:01Z' }, place)).not.toBe(key);
  expect(copilotCli.recordKey({ id: A, type: 'abort' }, place)).toBeUndefined();
  expect(copilotCli.recordKey({ ...record, timestamp: '[removed]' }, place)).toBeUndefined();
});

test('a message of Gemini CLI written again with other content is a revision', () => {
  const place = { origin: { session: A }, file: 'f', position: 0 };
  const message = { id: B, timestamp: '2026-11-01T10:00:00Z', type: 'gemini', content: 'I run the tests.' };
  const key = geminiCli.recordKey(message, place);
  const revised = { ...message, toolCalls: [{ id: 'c1', name: 'shell' }] };
  expect(geminiCli.recordKey({ ...message }, place)).toBe(key);
  expect(geminiCli.recordKey(revised, place)).not.toBe(key);
  const records = [message, revised].flatMap((record) => geminiCli.parse(record, place));
  expect(new Set(records.map(({ payload }) => payload.source.record))).toEqual(new Set([B]));
});

test('a record of Claude Code repeated by a fork has the same key, even without a valid time', () => {
  const place = { origin: { session: A }, file: 'f', position: 0 };
  for (const timestamp of ['2026-11-01T10:00:00Z', 'long ago', undefined]) {
    const key = claudeCode.recordKey({ uuid: A, type: 'user', sessionId: A, timestamp }, place);
    expect(key).toBeDefined();
    expect(claudeCode.recordKey({ uuid: A, type: 'user', sessionId: B, timestamp }, place)).toBe(key);
  }
});

const context = (text: string) => ({
  $set: {
    messages: [{ id: '0', type: 'user', content: [{ text: `<session_context>\nThis is the Gemini CLI. ${text}` }] }],
  },
});

test.each<[name: string, agent: Agent, record: JsonObject, folder: string | undefined]>([
  [
    'of a workspace, from the context',
    geminiCli,
    context('Hello.\n- **Workspace Directories:**\n  - /c/shop\n  - /d\n'),
    '/c/shop',
  ],
  [
    'that is the first of several, from the context',
    geminiCli,
    context("I'm working in the following directories:\n  - /c\n"),
    '/c',
  ],
  [
    'that is the only one, from the context',
    geminiCli,
    context("I'm currently working in the directory: /c\nHere"),
    '/c',
  ],
  ['of a context without one', geminiCli, context('Nothing.'), undefined],
  ['named only by a person', geminiCli, { type: 'user', content: 'working in the directory: /c' }, undefined],
  ['named by a hook', cursor, { name: 'n', event: { workspace_roots: ['/c'] } }, '/c'],
  ['of a tool call', cursor, { name: 'n', event: { workspace_roots: ['/c'], cwd: '/c/d' } }, '/c/d'],
  ['of a transcript', cursor, { role: 'user' }, undefined],
])('folderOf finds the folder %s', (_name, agent, record, folder) => {
  expect(agent.folderOf?.(record)).toBe(folder);
});
