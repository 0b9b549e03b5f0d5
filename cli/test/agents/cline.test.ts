import { describe, expect, test } from 'vitest';
import type { JsonObject, Origin } from '../../agents/agent.ts';
import { cline } from '../../agents/cline/cline.ts';
import { kilo } from '../../agents/kilo/kilo.ts';
import { rooCode } from '../../agents/roo-code/roo-code.ts';
import { type DocumentStore, storeOf } from '../../agents/store.ts';

const S = '1796000000000_ab1cd';

const CASES: [name: string, path: string, first: JsonObject | undefined, origin: Origin][] = [
  [
    'facts',
    `${S}/${S}.json`,
    { session_id: S, cwd: '/c', metadata: { git: { branch: 'main' }, fork: { forkedFromSessionId: 'p' } } },
    { session: S, cwd: '/c', branch: 'main', forkedFrom: 'p' },
  ],
  [
    'messages',
    `${S}/${S}.messages.json`,
    { sessionId: S, origin: { version: '3.0.65' } },
    { session: S, agentVersion: '3.0.65' },
  ],
  ['messages of a sub-agent', `${S}/a1.messages.json`, { sessionId: `${S}__a1` }, { session: S, subagent: 'a1' }],
  [
    'messages of a teammate',
    `${S}/a1__x.messages.json`,
    { sessionId: `${S}__teamtask__a1__x` },
    { session: S, subagent: 'teamtask__a1__x' },
  ],
  ['messages without a session id', `${S}/a1.messages.json`, {}, { session: S, subagent: 'a1' }],
  ['messages in a file without a folder', 'x.messages.json', {}, { session: 'x' }],
  ['a compaction', `${S}/${S}.compaction.json`, { version: 1 }, { session: S }],
  ['a task', '1760000000000/ui_messages.json', { ts: 1 }, { session: '1760000000000' }],
  ['a task given as a single file', 'ui_messages.json', undefined, { session: 'r' }],
];

test.each(CASES)('a document belongs to its session: %s', (_name, path, first, origin) => {
  expect(cline.identify({ root: '/some/r', path }, first)).toEqual(origin);
});

test("tasks are found in the editors' folders", () => {
  const task = (root: string) => `${root}/globalStorage/saoudrizwan.claude-dev/tasks`;
  const roots = cline.roots({ APPDATA: '/a', XDG_CONFIG_HOME: '/x', VSCODE_PORTABLE: '/p' }, '/h');
  expect(roots).toContain('/h/.cline/data/sessions');
  for (const user of ['/a/Code/User', '/x/VSCodium/User', '/h/Library/Application Support/Cursor/User'])
    expect(roots).toContain(task(user));
  expect(roots).toContain(task('/p/user-data/User'));
  expect(roots).toContain(task('/h/.vscode-server/data/User'));
  expect(cline.roots({ CLINE_DATA_DIR: '/d' }, '/h')).toContain('/d/sessions');
  expect(cline.roots({ CLINE_DIR: '/c' }, '/h')).toContain('/c/data/sessions');
  expect(cline.roots({ CLINE_SESSION_DATA_DIR: '/s' }, '/h')).toContain('/s');
  const ofRoo = rooCode.roots({}, '/h');
  expect(ofRoo).toContain('/h/.config/Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline/tasks');
  expect(kilo.roots({}, '/h')).toContain('/h/.config/Code/User/globalStorage/kilocode.kilo-code/tasks');
});

test.each([
  [`${S}/${S}.json`, true],
  [`${S}/${S}.messages.json`, true],
  [`${S}/hooks.jsonl`, false],
  [`${S}/other.json`, false],
  ['1760000000000/api_conversation_history.json', true],
  ['taskHistory.json', false],
])('%s is a transcript: %s', (path, isTranscript) => {
  expect(cline.isTranscript(path)).toBe(isTranscript);
});

describe('splitting a document', () => {
  const sessions = storeOf(cline, `${S}/${S}.messages.json`) as DocumentStore;
  const tasks = storeOf(cline, '1760000000000/ui_messages.json') as DocumentStore;
  const storeFor = (document: unknown) => (Array.isArray(document) ? tasks : sessions);
  const split = (document: unknown) => storeFor(document).split(JSON.stringify(document))[0];
  const records = (document: unknown) => split(document)?.records ?? [];
  const open = (document: unknown) =>
    records(document).map(
      (record, index, all) => storeFor(document).isUnsettled?.(record, index === all.length - 1) ?? false,
    );

  test('fields that change with each message become a separate, unsettled record', () => {
    const message = { id: 'msg_1', role: 'user', content: [], status: 'ok' };
    const document = { version: 1, updated_at: 't', agent: 'lead', messages: [message] };
    expect(records(document)).toEqual([{ version: 1, agent: 'lead' }, message, { updated_at: 't' }]);
    expect(open(document)).toEqual([false, false, true]);
    const facts = { session_id: S, status: 'running', metadata: { git: { branch: 'b' }, usage: { a: 1 } } };
    expect(records(facts)).toEqual([
      { session_id: S, metadata: { git: { branch: 'b' } } },
      { status: 'running', metadata: { usage: { a: 1 } } },
    ]);
    expect(open(facts)).toEqual([false, true]);
  });

  test('the mode tag around a whole prompt becomes a field; any other tag stays', () => {
    const blockOf = (text: string) => {
      const document = { updated_at: 't', messages: [{ role: 'user', content: [{ type: 'text', text }] }] };
      const message = records(document)[0] as { content: JsonObject[] };
      return message.content[0];
    };
    expect(blockOf('<user_input mode="act">a\n<b></user_input>')).toEqual({
      type: 'text',
      text: 'a\n<b>',
      user_input: { mode: 'act' },
    });
    for (const text of ['<user_input mode="act">a</user_input> b', '<user_input mode="a"><user_input>x</user_input>'])
      expect(blockOf(text)).toEqual({ type: 'text', text });
  });

  test('JSON in a text is parsed only if formatting it again gives the same text', () => {
    const say = (text: string) => records([{ ts: 1, type: 'say', say: 'tool', text }])[0]?.text;
    expect(say('{"tool":"a","n":1.50}')).toBe('{"tool":"a","n":1.50}');
    expect(say('{"tool":"a","n":1.5}')).toEqual({ tool: 'a', n: 1.5 });
    expect(say('{ "tool": "a" }')).toBe('{ "tool": "a" }');
    expect(say('{"tool"')).toBe('{"tool"');
  });

  test('the folder is read from the text that Cline sends to the model', () => {
    const folderOf = (document: unknown) => split(document)?.folder;
    const told = 'x\n# Current Working Directory (C:\\Users\\dev\\shop) Files';
    expect(folderOf([{ role: 'user', content: [{ type: 'text', text: told }] }])).toBe('C:\\Users\\dev\\shop');
    expect(folderOf([{ ts: 1, type: 'say', text: JSON.stringify({ request: told }) }])).toBe('C:\\Users\\dev\\shop');
    expect(folderOf({ updated_at: 't', messages: [{}], system_prompt: '4. Working Directory: /a b\n' })).toBe('/a b');
  });

  test('a request is unsettled until it has its tokens, and a message until it is complete', () => {
    const request = (info: object) => ({ ts: 1, type: 'say', say: 'api_req_started', text: JSON.stringify(info) });
    expect(open([request({ request: 'x' }), request({ cost: 0 }), request({ cancelReason: 'a' })])).toEqual([
      true,
      false,
      false,
    ]);
    expect(
      open([
        { ts: 1, partial: true },
        { ts: 1, partial: false },
      ]),
    ).toEqual([true, false]);
  });

  test.each(['{"a":', '3', '"text"', 'null'])('%s is not a document', (text) => {
    for (const store of [sessions, tasks]) expect(() => store.split(text)).toThrow();
  });
});

test('a message has the same key in a fork, but another key after a change', () => {
  const place = { origin: { session: S }, file: 'f', position: 0 };
  const message = { id: 'msg_12345', ts: 1, role: 'assistant', content: [] };
  expect(cline.recordKey({ ...message }, place)).toBe(cline.recordKey(message, { ...place, position: 7 }));
  expect(cline.recordKey({ ...message, metrics: {} }, place)).not.toBe(cline.recordKey(message, place));
  expect(cline.recordKey({ ...message, ts: undefined }, place)).toBeUndefined();
});
