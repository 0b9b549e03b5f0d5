import { describe, expect, test } from 'vitest';
import type { SessionFacts } from '../../../contract/review.ts';
import { buildTimeline } from './build.ts';
import { readOutcome } from './outcome.ts';
import { entriesOf, type Given, result } from './test/events.ts';

const bash = (callId: string, command: string): Given => ['tool.call', { callId, name: 'Bash', input: { command } }];
const edit = (callId: string, path: string): Given => [
  'tool.call',
  { callId, name: 'Edit', input: { file_path: path, old_string: 'a', new_string: 'b' } },
];
const failed = (callId: string): Given => result(callId, { isError: true });
const outcomeOf = (events: Given[], facts: Partial<SessionFacts> = {}) =>
  readOutcome(buildTimeline(entriesOf(...events)), { milestones: [], usage: [], ...facts });

describe('a failure is', () => {
  test.each<[string, Given[], object]>([
    [
      'recovered by the same command',
      [bash('a', 'npm run x'), failed('a'), bash('b', 'cd /x && npm run x'), result('b')],
      { count: 1, recovered: 1 },
    ],
    [
      'recovered by another run of tests',
      [bash('a', 'npm test'), failed('a'), bash('b', 'npx vitest run a'), result('b')],
      { count: 1, recovered: 1 },
    ],
    [
      'recovered by another edit of the file',
      [edit('a', '/a'), failed('a'), edit('b', '/a'), result('b')],
      { count: 1, recovered: 1 },
    ],
    [
      'not recovered by an edit of another file',
      [edit('a', '/a'), failed('a'), edit('b', '/b'), result('b')],
      { count: 1, recovered: 0, at: 1 },
    ],
    [
      'not recovered by an earlier call',
      [bash('b', 'ls'), result('b'), bash('a', 'ls'), failed('a')],
      { count: 1, recovered: 0, at: 3 },
    ],
    [
      'not recovered by a call without a result',
      [bash('a', 'ls'), failed('a'), bash('b', 'ls')],
      { count: 1, recovered: 0 },
    ],
    [
      'the linked one if it was not recovered',
      [bash('a', 'make'), failed('a'), bash('b', 'ls'), failed('b'), bash('c', 'ls'), result('c')],
      { count: 2, recovered: 1, at: 1 },
    ],
    [
      'an error of the agent, recovered by an answer',
      [
        ['error', { text: 'overloaded' }],
        ['assistant.message', { text: 'On' }],
      ],
      { count: 1, recovered: 1 },
    ],
  ])('%s', (_, events, expected) => {
    expect(outcomeOf(events).failures).toMatchObject(expected);
  });
});

test.each<[command: string, later: string, isRecovered: boolean]>([
  ['npm run build', 'npm run build -- --watch', true],
  ['npm run build', 'npm run lint', false],
  ['npm run build', 'npm run build:docs', false],
  ['npm run build', 'CI=1 npm run build 2>&1 | tail -5', true],
  ['npx eslint src/a.ts', 'npx eslint . --fix', true],
  ['npx eslint .', 'npx tsc', false],
  ['make', 'make && ls', true],
  ['gh pr diff 343 -- a.ts', 'gh pr diff 343 2>/dev/null', true],
  ['make docs', 'make install', false],
  ['cargo build', 'cargo build --release', true],
  ['go vet ./...', 'go build ./...', false],
  ['docker compose up -d', 'docker compose ps', false],
  ['uv run build', 'uv run ruff', false],
  ['python -m build', 'python -m pip install .', false],
  ['cat a.txt', 'cat b.txt', false],
  ['bash -lc "npm run build"', "bash -lc 'ls'", false],
  ['bash -lc "npm run build"', "bash -lc 'cd /x && npm run build'", true],
])('a failure of `%s` is recovered by `%s`: %s', (command, later, isRecovered) => {
  const events = [bash('a', command), failed('a'), bash('b', later), result('b')];
  expect(outcomeOf(events).failures).toMatchObject({ count: 1, recovered: isRecovered ? 1 : 0 });
});

test.each<[Given[], boolean]>([
  [[bash('a', 'git commit -m x'), result('a'), bash('b', 'git push'), result('b')], true],
  [[bash('a', 'git commit -m x && git push'), result('a')], true],
  [[bash('b', 'git push'), result('b'), bash('a', 'git commit -m x'), result('a')], false],
  [[bash('a', 'git commit -m x'), result('a'), bash('b', 'git push'), failed('b')], false],
])('commits count as pushed if a push after the last one succeeded: %#', (events, isPushed) => {
  const at = events.findIndex(([, payload]) => payload?.callId === 'a') + 2;
  expect(outcomeOf(events, { commits: { count: 1, sequence: at } }).commits).toEqual({ count: 1, isPushed, at });
});

test('the last result of the tests counts, and an interruption counts if no turn follows it', () => {
  const stop: Given = ['turn.finished', { reason: 'interrupted' }];
  expect(outcomeOf([['user.message', { text: 'Go' }], stop], { tests: { passed: true, sequence: 4 } })).toMatchObject({
    tests: { passed: true, at: 4 },
    interrupted: { at: 2 },
  });
  expect(outcomeOf([['user.message', { text: 'Go' }], stop, ['user.message', { text: 'On' }]]).interrupted).toBe(
    undefined,
  );
});

test('the time of waiting for a person is known if events have times', () => {
  const events: Given[] = [
    ['user.message', { text: 'One' }, 0],
    ['assistant.message', { text: 'Done' }, 60],
    ['user.message', { text: 'Two' }, 90],
    ['assistant.message', { text: 'Done' }, 100],
    ['user.message', { text: 'Three' }, 400],
  ];
  expect(outcomeOf(events).waiting).toEqual({ durationMs: 300_000, at: 5 });
  expect(outcomeOf(events.map(([type, payload]): Given => [type, { ...payload, occurredAt: undefined }])).waiting).toBe(
    undefined,
  );
});
