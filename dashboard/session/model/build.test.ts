import { describe, expect, test } from 'vitest';
import { buildTimeline } from './build.ts';
import type { Item, ToolItem } from './items.ts';
import { flatten } from './rows.ts';
import { call, entriesOf, result } from './test/events.ts';

const kinds = (items: readonly Item[]) => items.map(({ kind, sequence }) => `${kind} ${sequence}`);
const shown = (items: readonly Item[]) => flatten(items, () => false).map(({ key, depth }) => '  '.repeat(depth) + key);

describe('tool calls', () => {
  test('are merged with their results, in any order', () => {
    const { items } = buildTimeline(
      entriesOf(call('a'), call('b', 'Bash'), result('b', { isError: true }), result('a', { durationMs: 70 })),
    );
    const [first, second] = (items[0]?.kind === 'group' ? items[0].children : items) as ToolItem[];
    expect(first).toMatchObject({ name: 'Read', failed: false, durationMs: 70, results: [{ sequence: 4 }] });
    expect(second).toMatchObject({ name: 'Bash', failed: true, durationMs: 1000, results: [{ sequence: 3 }] });
  });

  test('are counted without results that belong to no call, which are still shown', () => {
    const { items, toolCalls } = buildTimeline(entriesOf(call('a'), result('a'), result('elsewhere')));
    expect(kinds(items)).toEqual(['group 1']);
    expect(toolCalls).toBe(1);
  });

  test('in a row become one line, below which failures and edits stay visible', () => {
    const { items, toolCalls, failures } = buildTimeline(
      entriesOf(
        call('a'),
        result('a'),
        call('b', 'Bash', { command: 'false' }),
        result('b', { exitCode: 1 }),
        call('c'),
        result('c'),
        call('d', 'Write', { file_path: '/b.ts', content: 'one\ntwo\n' }),
        result('d'),
      ),
    );
    expect(shown(items)).toEqual(['g1', '  t3', '  t7']);
    expect(items[0]).toMatchObject({ kind: 'group', calls: 4, failures: 1, durationMs: 4000 });
    expect([toolCalls, failures]).toEqual([4, 1]);
  });

  test('are not grouped if that would hide one line behind another', () => {
    const { items } = buildTimeline(entriesOf(call('a'), result('a'), ['assistant.message', { text: 'So.' }]));
    expect(kinds(items)).toEqual(['tool 1', 'message 3']);
  });

  test('include records between them, but not records after them', () => {
    const { items } = buildTimeline(
      entriesOf(call('a'), ['record'], result('a'), call('b'), result('b'), ['record', { kind: 'x' }]),
    );
    expect(kinds(items)).toEqual(['group 1', 'quiet 6']);
    expect(items[0]).toMatchObject({ children: [{ key: 't1' }, { key: 'q2' }, { key: 't4' }] });
  });

  test('take a result under an unknown id while they are unanswered', () => {
    const changes = { 'a.ts': { type: 'add', content: 'x\n' } };
    const { items } = buildTimeline(
      entriesOf(call('script', 'exec', 'run()'), result('inner', { detail: { changes } }), result('script')),
    );
    expect(items).toMatchObject([{ kind: 'tool', changes: [{ path: 'a.ts', added: 1 }], results: [{}, {}] }]);
  });

  test('that failed have no changes', () => {
    const edit = call('a', 'Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' });
    expect(buildTimeline(entriesOf(edit)).items).toMatchObject([{ changes: [{ added: 1, removed: 1 }] }]);
    expect(buildTimeline(entriesOf(edit, result('a', { isError: true }))).items).toMatchObject([{ changes: [] }]);
  });

  test('without an id are items of their own, like results without a call', () => {
    const { items } = buildTimeline(entriesOf(['tool.result', { output: 'x' }], ['tool.call'], ['tool.result', {}]));
    expect(items).toMatchObject([{ children: [{ results: [{ sequence: 1 }] }, { results: [{ sequence: 3 }] }] }]);
  });
});

describe('sub-agents', () => {
  const source = { subagent: 'helper' };
  const inLane = (eventType: string, more = {}) =>
    [eventType, { source, ...more }] as [string, Record<string, unknown>];

  test('are a lane below the call that started them', () => {
    const { items } = buildTimeline(
      entriesOf(
        call('a', 'Task', { description: 'Look' }),
        inLane('user.message', { text: 'Look' }),
        inLane('tool.call', { callId: 'x', name: 'Grep' }),
        inLane('tool.result', { callId: 'x', isError: true }),
        ['subagent.finished', { subagent: 'helper', callId: 'a' }],
        result('a'),
      ),
    );
    expect(items).toMatchObject([{ kind: 'tool', lanes: [{ lane: 'helper', calls: 1, failures: 1 }] }]);
    expect(shown(items)).toEqual(['t1']);
    expect(flatten(items, () => true).map(({ key }) => key)).toEqual(['t1', 'm2', 't3']);
  });

  test('are shown where they begin if their starter is unknown, without prompts in the outline', () => {
    const { items, prompts } = buildTimeline(
      entriesOf(
        ['user.message', { text: 'Hi' }],
        inLane('user.message', { text: 'Look' }),
        ['assistant.message', { text: 'Yes' }],
        inLane('assistant.message', { text: 'Seen' }),
      ),
    );
    expect(kinds(items)).toEqual(['message 1', 'lane 2', 'message 3']);
    expect(prompts.map(({ sequence }) => sequence)).toEqual([1]);
  });
});

describe('pauses', () => {
  test('longer than five minutes become a line', () => {
    const { items } = buildTimeline(
      entriesOf(['user.message', {}, 0], ['assistant.message', {}, 10], ['user.message', {}, 311], ['error', {}, 600]),
    );
    expect(kinds(items)).toEqual(['message 1', 'message 2', 'idle 3', 'message 3', 'message 4']);
    expect(items[2]).toMatchObject({ durationMs: 301_000 });
  });

  test('while a tool runs do not count', () => {
    const { items } = buildTimeline(
      entriesOf(call('a'), ['tool.result', { callId: 'a' }, 3600], ['assistant.message', {}, 3605]),
    );
    expect(kinds(items)).toEqual(['tool 1', 'message 3']);
  });
});

test('a compaction opens to the summary after it, and no compaction takes a summary twice', () => {
  const summary = (text: string): [string, object] => ['context.message', { kind: 'compact-summary', text }];
  const { items } = buildTimeline(
    entriesOf(
      ['compaction', { trigger: 'manual', tokensBefore: 157_156 }],
      summary('First words\nand the rest') as never,
      summary('Another') as never,
      ['compaction', { summary: 'Its own' }],
      summary('Not its own') as never,
    ),
  );
  expect(kinds(items)).toEqual(['message 1', 'quiet 3', 'message 4', 'quiet 5']);
  expect(items[0]).toMatchObject({
    entry: { kind: 'compaction', text: 'First words and the rest', length: 24, summary: { sequence: 2, span: 1 } },
  });
  expect(items[2]).toMatchObject({ entry: { text: 'Its own', length: 7 } });
  expect(items[2]).not.toHaveProperty('entry.summary');
});

test('reasoning that an agent recorded twice is shown once', () => {
  const at = (ms: number) => new Date(Date.UTC(2026, 10, 20) + ms).toISOString();
  const thought = (text: string, messageId: string, ms: number): [string, Record<string, unknown>] => [
    'assistant.reasoning',
    { text, messageId, occurredAt: at(ms) },
  ];
  const { items } = buildTimeline(
    entriesOf(
      thought('Check the lock', 'a', 0),
      thought('Check the tests', 'a', 0),
      ['record', { kind: 'duplicate:agent_reasoning', occurredAt: at(18) }],
      thought('Check the lock', 'b', 18),
      thought('Check the tests', 'b', 18),
      ['assistant.message', { text: 'Both are fine', occurredAt: at(30) }],
      thought('Check the lock', 'c', 40),
      thought('Check the lock', 'd', 4_000),
    ),
  );
  expect(kinds(items)).toEqual(['message 1', 'message 2', 'message 6', 'message 7', 'message 8', 'quiet 3']);
});

test('rarely needed events are folded into one line', () => {
  const { items } = buildTimeline(
    entriesOf(['context.message'], ['record'], ['vendor.thing', { a: 1 }], ['assistant.reasoning', { text: '' }]),
  );
  expect(items).toMatchObject([{ kind: 'quiet', entries: [{}, {}, {}, {}] }]);
});

test.each([
  'bash_progress',
  'hook_progress',
  'agent_progress',
  'progress',
  'progress:search',
  'query_update',
  'hook_success',
  'queue-operation',
])('notices of kind %s are folded with rarely needed events', (kind) => {
  const notice: [string, object] = ['notice', { kind, text: 'Running' }];
  const { items } = buildTimeline(entriesOf(call('a'), notice as never, notice as never, result('a'), ['record']));
  expect(kinds(items)).toEqual(['tool 1', 'quiet 2']);
  expect(items[1]).toMatchObject({ entries: [{ sequence: 2 }, { sequence: 3 }, { sequence: 5 }] });
});

test.each(['hook_blocking_error', 'hook_error', 'informational', 'no_progress_made', undefined])(
  'notices of kind %s keep their line',
  (kind) => {
    const { items } = buildTimeline(entriesOf(['notice', { kind, text: 'Stopped' }]));
    expect(kinds(items)).toEqual(['message 1']);
  },
);

test('meta, tokens and redactions are summed up for the header', () => {
  const usage = (responseId: string, outputTokens: number) =>
    ['usage', { responseId, inputTokens: 2, cacheReadTokens: 8, outputTokens, cached: 'excluded' }] as [string, object];
  const {
    meta,
    usage: tokens,
    redactions,
    items,
  } = buildTimeline(
    entriesOf(
      ['session.meta', { title: 'By hand', titleBy: 'person', branch: 'main' }],
      ['session.meta', { title: 'Made up', titleBy: 'agent', branch: 'fix' }],
      usage('r1', 5) as never,
      usage('r1', 7) as never,
      usage('r2', 1) as never,
      ['user.message', { text: 'x', redactions: { 'github-token': 2 } }],
    ),
  );
  expect(meta).toEqual({ title: 'By hand', branch: 'fix' });
  expect(tokens.total).toMatchObject({ input: 20, output: 8, cacheRead: 16 });
  expect(redactions).toBe(2);
  expect(kinds(items)).toEqual(['quiet 1', 'message 6']);
});

test('copies of earlier messages have no lines of their own', () => {
  const copy = (): [string, object] => ['record', { kind: 'duplicate:user_message' }];
  const { items } = buildTimeline(
    entriesOf(copy() as never, ['user.message'], copy() as never, ['record'], ['error'], copy() as never),
  );
  expect(kinds(items)).toEqual(['message 2', 'quiet 1', 'message 5', 'quiet 6']);
});

test('sub-agents that started each other or are nested endlessly are at the end', () => {
  const nested = (lane: string, inside: string): [string, object][] => [
    ['tool.call', { callId: lane, name: 'Task', source: { subagent: inside } }],
    ['subagent.started', { subagent: lane, callId: lane }],
    ['assistant.message', { text: lane, source: { subagent: lane } }],
  ];
  const circle = [...nested('a', 'b'), ...nested('b', 'a')];
  expect(buildTimeline(entriesOf(...(circle as never[]))).items).toMatchObject([{ lane: 'b' }, { lane: 'a' }]);
  const deep = Array.from({ length: 5_000 }, (_, index) => nested(`s${index + 1}`, `s${index}`)).flat();
  const { items, toolCalls } = buildTimeline(entriesOf(...(deep as never[])));
  expect(toolCalls).toBe(5_000);
  expect(flatten(items, () => true).length).toBeGreaterThan(9_000);
});
