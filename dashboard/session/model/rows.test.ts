import { describe, expect, test } from 'vitest';
import { buildTimeline } from './build.ts';
import { canOpen, countShowable, failuresOf, flatten, locate, type Showable } from './rows.ts';
import { call, entriesOf, result } from './test/events.ts';

const { items, orders } = buildTimeline(
  entriesOf(
    ['user.message', { text: 'Make it GREEN' }],
    ['usage', { outputTokens: 1 }],
    call('a', 'Read'),
    result('a', { output: 'a green line' }),
    call('b', 'Bash'),
    ['record', { kind: 'odd' }],
    result('b', { isError: true }),
    call('c', 'Task'),
    ['assistant.message', { text: 'inside', source: { subagent: 's' } }],
    ['subagent.finished', { subagent: 's', callId: 'c' }],
    result('c'),
  ),
);

test('rows of closed and open items', () => {
  const rows = (open: boolean) => flatten(items, (item) => open && canOpen(item)).map(({ key }) => key);
  expect(rows(false)).toEqual(['m1', 'g3', 't5', 't8']);
  expect(rows(true)).toEqual(['m1', 'g3', 't3', 't5', 'q6', 'r6', 't8', 'm9']);
});

test.each([
  [1, 'm1', []],
  [4, 't3', ['g3']],
  [6, 'r6', ['g3', 'q6']],
  [7, 't5', ['g3']],
  [9, 'm9', ['g3', 't8', 'ls']],
  [10, 'ls', ['g3', 't8']],
])('event %i is found', (sequence, key, parents) => {
  expect(locate(items, sequence, orders)).toEqual({ key, parents });
});

test('an event without a row is found at the row before it', () => {
  expect(locate(items, 2, orders)?.key).toBe('m1');
  expect(locate(items, 99, orders)?.key).toBe('t8');
});

test('failures are listed in order', () => {
  expect(failuresOf(items)).toEqual([{ key: 't5', parents: ['g3'], sequence: 5, order: 5 }]);
});

describe('kinds of rows', () => {
  const keys = (...shown: Showable[]) => flatten(items, () => false, shown).map(({ key }) => key);

  test('that are requested are the only ones shown, wherever they are folded', () => {
    expect(keys('failures')).toEqual(['t5']);
    expect(keys('prompts', 'answers')).toEqual(['m1', 'm9']);
    expect(keys('records', 'prompts')).toEqual(['m1', 'q6']);
  });

  test('are all shown except records by default', () => {
    expect(flatten(items, canOpen, []).map(({ key }) => key)).toEqual(['m1', 'g3', 't3', 't5', 't8', 'm9']);
  });

  test('are counted including folded items', () => {
    expect(countShowable(items)).toEqual({ prompts: 1, answers: 1, edits: 0, failures: 1, subagents: 1, records: 1 });
  });
});

test('the first row of each day has the day', () => {
  const day = 86_400;
  const days = buildTimeline(entriesOf(['error', {}, 0], ['error', {}, 1], ['error', {}, 2 * day], ['error', {}, day]));
  expect(flatten(days.items, () => false).map((row) => row.day !== undefined)).toEqual([
    true,
    false,
    false,
    true,
    false,
  ]);
});

test('an unchanged row is reused', () => {
  const before = flatten(items, () => false);
  const known = (key: string) => before.find((row) => row.key === key);
  const isOpen = ({ key }: { key: string }) => key === 'g3';
  const after = flatten(items, isOpen, ['records'], known);
  expect(after.filter((row) => !before.includes(row)).map(({ key }) => key)).toEqual(['g3', 't3', 'q6']);
});
