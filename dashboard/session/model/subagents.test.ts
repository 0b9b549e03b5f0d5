import { expect, test } from 'vitest';
import { buildTimeline } from './build.ts';
import { tokensIn } from './spent.ts';
import { readSubagents } from './subagents.ts';
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

test('each sub-agent stands below the one that started it, with what both did', () => {
  const lines = linesOf(...started('a', undefined, 'Read the tests'), ...started('b', undefined), ...started('c', 'a'));
  expect(lines.map(({ item, depth, task }) => [item.lane, depth, task])).toEqual([
    ['a', 0, 'Read the tests · Look at a · You look at a'],
    ['c', 1, 'Look at c · You look at c'],
    ['b', 0, 'Look at b · You look at b'],
  ]);
  expect(lines.map(({ item }) => [item.calls, item.failures, tokensIn(item.spent)])).toEqual([
    [3, 1, 200],
    [1, 1, 100],
    [1, 0, 100],
  ]);
  expect(lines.map(({ item }) => item.starter?.sequence)).toEqual([1, 15, 8]);
});

test('sub-agents of whom nobody says who started them tell their prompt, also when they claim to be in a circle', () => {
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
