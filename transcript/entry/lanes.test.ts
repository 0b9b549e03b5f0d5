import { expect, test } from 'vitest';
import { createLanes, readOwnLanes } from './lanes.ts';
import { readEvent } from './read.ts';

const CREATED = '2026-11-22T10:00:00.000Z';

const chained = (record: string, parent: string | null, index: number | undefined, isSide: boolean) => ({
  source: {
    agent: 'claude-code',
    agentVersion: '1.0.98',
    session: 's',
    file: 'a.jsonl',
    position: 0,
    record,
    ...(parent !== null && { parent }),
    ...(index !== undefined && { index }),
  },
  ...(!index && { rest: { isSidechain: isSide } }),
});

test('chains of records in the file of the session are lanes, even if they alternate', () => {
  const lanes = createLanes();
  const lanesOf = (...payloads: [string, object][]) =>
    payloads.map(
      ([eventType, payload], at) =>
        lanes.settle(readEvent({ sequence: at + 1, eventType, createdAt: CREATED, payload: payload as never })).lane,
    );
  expect(
    lanesOf(
      ['tool.call', { ...chained('m1', null, 0, false), callId: 'one', name: 'Task' }],
      ['usage', chained('m1', null, 1, false)],
      ['context.message', { ...chained('a', null, undefined, true), kind: 'subagent-prompt', text: 'One' }],
      ['context.message', { ...chained('b', null, undefined, true), kind: 'subagent-prompt', text: 'Two' }],
      ['assistant.message', { ...chained('a1', 'a', 0, true), text: 'I look' }],
      ['usage', chained('a1', 'a', 1, false)],
      ['tool.call', { ...chained('b1', 'b', undefined, true), name: 'Read' }],
      ['tool.result', { ...chained('a2', 'a1', undefined, true), output: '' }],
      ['assistant.message', { ...chained('lost', 'unknown', undefined, true), text: 'Whose?' }],
      ['assistant.message', { ...chained('m2', 'm1', undefined, false), text: 'Done' }],
    ),
  ).toEqual([undefined, undefined, 'a', 'b', 'a', 'a', 'b', 'a', 'lost', undefined]);
});

const progress = (type: string, content: unknown, more: object = {}) =>
  readEvent({
    sequence: 1,
    eventType: 'notice',
    createdAt: CREATED,
    payload: {
      source: { agent: 'claude-code', session: 's', file: 'a.jsonl', position: 0 },
      occurredAt: '2026-11-22T09:00:01.000Z',
      kind: 'agent_progress',
      rest: {
        parentToolUseID: 'starter',
        data: {
          type: 'agent_progress',
          agentId: 'lane',
          prompt: 'Look',
          message: {
            type,
            timestamp: '2026-11-22T09:00:00.000Z',
            message: { role: type, content, ...more },
          },
        },
      },
    },
  });

test('a progress notice is read as the message of its sub-agent', () => {
  const usage = { input_tokens: 2, cache_creation_input_tokens: 90, cache_read_input_tokens: 8, output_tokens: 5 };
  expect(
    progress('assistant', [{ type: 'tool_use', id: 'c', name: 'Read', input: { file_path: '/a.ts' } }], {
      id: 'r',
      model: 'claude-opus-4-6',
      usage,
    }),
  ).toMatchObject({
    ...{ kind: 'call', eventType: 'tool.call', lane: 'lane', callId: 'c', name: 'Read', about: '/a.ts' },
    time: Date.parse('2026-11-22T09:00:00.000Z'),
    echo: { starter: 'starter', usage: { responseId: 'r', input: 100, output: 5, cacheRead: 8, cacheWrite: 90 } },
  });
  expect(progress('user', [{ type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true }])).toMatchObject({
    ...{ kind: 'result', lane: 'lane', callId: 'c', failed: true, preview: 'no', echo: { starter: 'starter' } },
  });
  expect(progress('user', [{ type: 'text', text: 'Look' }])).toMatchObject({ kind: 'quiet', brief: '4 Look' });
  expect(progress('assistant', [{ type: 'text', text: 'Seen' }])).toMatchObject({ kind: 'answer', text: 'Seen' });
  expect(progress('assistant', [])).toMatchObject({ kind: 'quiet', eventType: 'notice' });
});

test('a sub-agent has its own transcript if one of its entries is not an echo', () => {
  const echo = progress('assistant', [{ type: 'text', text: 'Seen' }]);
  expect([...readOwnLanes([echo])]).toEqual([]);
  const { echo: _, ...own } = echo;
  expect([...readOwnLanes([echo, undefined, own])]).toEqual(['lane']);
});
