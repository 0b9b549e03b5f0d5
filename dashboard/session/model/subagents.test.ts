import { expect, test } from 'vitest';
import { createLanes } from '../../../transcript/entry/lanes.ts';
import { buildTimeline } from './build.ts';
import { createModel } from './model.ts';
import { tokensIn } from './spent.ts';
import { nameLane, outcomeOf, readSubagents } from './subagents.ts';
import { entriesOf } from './test/events.ts';

const started = (lane: string, by: string | undefined, description?: string): [string, object][] => [
  ['tool.call', { callId: lane, name: 'Task', input: { prompt: `Look at ${lane}` }, source: { subagent: by } }],
  ['subagent.started', { subagent: lane, callId: lane, description }],
  ['context.message', { text: `You look at ${lane}`, kind: 'subagent-prompt', source: { subagent: lane } }],
  ['tool.call', { callId: `${lane}-1`, name: 'Grep', source: { subagent: lane } }],
  ['tool.result', { callId: `${lane}-1`, isError: lane === 'c', source: { subagent: lane } }],
  ['subagent.finished', { subagent: lane, callId: 'close' }],
  ['usage', { inputTokens: 100, outputTokens: 0, source: { subagent: lane } }],
];

const linesOf = (...events: [string, object][]) =>
  readSubagents(buildTimeline(entriesOf(...(events as never[]))).lanes);

test('each sub-agent is below the one that started it, with the items of both', () => {
  const lines = linesOf(...started('a', undefined, 'Read the tests'), ...started('b', undefined), ...started('c', 'a'));
  expect(lines.map(({ item, depth, name, task }) => [item.lane, depth, name, task])).toEqual([
    ['a', 0, 'Read the tests', 'Look at a · You look at a'],
    ['c', 1, 'Look at c', 'You look at c'],
    ['b', 0, 'Look at b', 'You look at b'],
  ]);
  expect(lines.map(({ item }) => [item.calls, item.failures, tokensIn(item.spent)])).toEqual([
    [3, 1, 200],
    [1, 1, 100],
    [1, 0, 100],
  ]);
  expect(lines.map(({ item }) => item.starter?.sequence)).toEqual([1, 15, 8]);
});

test('a sub-agent is named by its kind, and several of a kind also by their tasks', () => {
  const [call, [type, about], ...rest] = started('a', undefined, 'Read the tests') as [never, [string, object]];
  const { lanes } = buildTimeline(entriesOf(call, [type, { ...about, agentType: 'Explore' }] as never, ...rest));
  expect(lanes.map(nameLane)).toEqual(['Explore · Read the tests · Look at a · You look at a']);
});

test('sub-agents without a known starter show their prompt, even if they claim to have started each other', () => {
  const [, , prompt, work] = started('alone', undefined);
  const circle = [...started('x', 'y'), ...started('y', 'x')];
  const lines = linesOf(prompt as never, work as never, ...circle);
  expect(lines.map(({ item, depth }) => [item.lane, depth]).sort()).toEqual([
    ['alone', 0],
    ['x', 0],
    ['y', 0],
  ]);
  expect(lines.find(({ item }) => item.lane === 'alone')?.task).toBe('You look at alone');
});

const chained = (record: string, parent?: string): object => ({
  source: { agent: 'claude-code', agentVersion: '1.0.98', record, ...(parent !== undefined && { parent }) },
  rest: { isSidechain: true },
});

const progress = (type: 'assistant' | 'user', block: object): [string, object] => [
  'notice',
  {
    kind: 'agent_progress',
    rest: { parentToolUseID: 'a', data: { agentId: 'a', message: { message: { role: type, content: [block] } } } },
  },
];

test('sub-agents with records in the file of the session are lanes below the calls with their prompts', () => {
  const task = (callId: string, prompt: string): [string, object] => [
    'tool.call',
    { callId, name: 'Task', input: { description: callId, prompt } },
  ];
  const { lanes, items } = buildTimeline(
    settled(
      task('one', 'Look at one'),
      task('two', 'Look at two'),
      ['context.message', { kind: 'subagent-prompt', text: 'Look at two', ...chained('b') }],
      ['context.message', { kind: 'subagent-prompt', text: 'Look at one', ...chained('a') }],
      ['tool.call', { callId: 'b1', name: 'Read', ...chained('b1', 'b') }],
      ['assistant.message', { text: 'I look at one', ...chained('a1', 'a') }],
      ['tool.result', { callId: 'b1', isError: true, ...chained('b2', 'b1') }],
      ['tool.result', { callId: 'one' }],
    ),
  );
  expect(
    lanes.map(({ lane, starter, anchored, calls, failures }) => [
      lane,
      starter?.call?.callId,
      anchored,
      calls,
      failures,
    ]),
  ).toEqual([
    ['b', 'two', true, 1, 1],
    ['a', 'one', true, 0, 0],
  ]);
  expect(items.some((item) => item.kind === 'message')).toBe(false);
});

test('the session’s copies of a sub-agent are its messages and calls until its own transcript arrives', () => {
  const repeated: [string, object][] = [
    ['tool.call', { callId: 'a', name: 'Task', input: {} }],
    progress('user', { type: 'text', text: 'Look' }),
    progress('assistant', { type: 'tool_use', id: 'r', name: 'Read', input: { file_path: '/a' } }),
    progress('user', { type: 'tool_result', tool_use_id: 'r', is_error: true, content: 'no such file' }),
  ];
  const own: [string, object][] = [
    ['tool.call', { callId: 'r', name: 'Read', input: { file_path: '/a' }, source: { subagent: 'a' } }],
    ['tool.result', { callId: 'r', isError: true, source: { subagent: 'a' } }],
  ];
  const figures = (...events: [string, object][]) => {
    const model = createModel();
    for (const entry of entriesOf(...(events as never[]))) model.add(entry);
    const { lanes, toolCalls, failures } = model.timeline();
    return [
      lanes.map(({ starter, calls, anchored }) => [starter?.name, calls, anchored]),
      toolCalls,
      failures,
      model.isStale(),
    ];
  };
  expect(figures(...repeated)).toEqual([[['Task', 1, true]], 2, 1, false]);
  expect(figures(...repeated, ...own)[3]).toBe(true);
  const { lanes, toolCalls, failures } = buildTimeline(entriesOf(...([...repeated, ...own] as never[])));
  expect([lanes.length, lanes[0]?.calls, toolCalls, failures]).toEqual([1, 1, 2, 1]);
});

test('the result that a sub-agent sent to its parent ends it, and is its answer until its own transcript arrives', () => {
  const sent = (sender: string, text: string): [string, object] => [
    'context.message',
    {
      kind: 'agent_message',
      text: `Message Type: FINAL_ANSWER\nTask name: /root\nSender: ${sender}\nPayload:\n${text}`,
    },
  ];
  const events: [string, object][] = [
    ['tool.call', { callId: 'a', name: 'spawn_agent', input: {} }],
    ['subagent.started', { subagent: 'x', callId: 'a', description: '/root/review' }],
    ['tool.result', { callId: 'a', output: 'started' }],
    ['context.message', { kind: 'agent_message', text: 'Message Type: MESSAGE\nSender: /root/review\nPayload:\n' }],
  ];
  const outcomes = (...more: [string, object][]) => {
    const { lanes, items } = buildTimeline(entriesOf(...([...events, ...more] as never[])));
    expect(items.some(({ kind }) => kind === 'message')).toBe(false);
    return lanes.map((lane) => [
      outcomeOf(lane),
      lane.items.flatMap((item) => (item.kind === 'message' && 'text' in item.entry ? [item.entry.text] : [])),
    ]);
  };
  expect(outcomes()).toEqual([['open', []]]);
  expect(outcomes(sent('/root/review', 'No findings.'))).toEqual([['finished', ['No findings.']]]);
  expect(outcomes(sent('/root/other', 'No findings.'))).toEqual([['open', []]]);
  const own: [string, object] = ['assistant.message', { text: 'No findings.', source: { subagent: 'x' } }];
  expect(outcomes(sent('/root/review', 'No findings.'), own)).toEqual([['finished', ['No findings.']]]);
});

function settled(...events: [string, object][]) {
  const lanes = createLanes();
  return entriesOf(...(events as never[])).map(lanes.settle);
}

test.each<[string, [string, object][]]>([
  ['finished', [['tool.result', { callId: 'a' }]]],
  ['failed', [['tool.result', { callId: 'a', isError: true }]]],
  ['open', []],
  // It runs in the background while the agent that started it does something else.
  [
    'open',
    [
      ['tool.result', { callId: 'a' }],
      ['subagent.started', { subagent: 'a', callId: 'a' }],
    ],
  ],
  [
    'finished',
    [
      ['tool.result', { callId: 'a' }],
      ['subagent.started', { subagent: 'a' }],
      ['subagent.finished', { subagent: 'a' }],
    ],
  ],
  ['interrupted', [['turn.finished', { reason: '[Request interrupted by user]', source: { subagent: 'a' } }]]],
])('a sub-agent is %s if that was recorded last', (outcome, events) => {
  const prompt = 'Look';
  const { lanes } = buildTimeline(
    entriesOf(
      ['tool.call', { callId: 'a', name: 'Task', input: { description: 'Look', prompt } }],
      ['context.message', { kind: 'subagent-prompt', text: prompt, source: { subagent: 'a' } }],
      ...(events as never[]),
    ),
  );
  expect(lanes.map(outcomeOf)).toEqual([outcome]);
});
