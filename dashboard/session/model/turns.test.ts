import { expect, test } from 'vitest';
import type { SessionFacts } from '../../../contract/review.ts';
import { readLines } from '../../app/index-lines.ts';
import { buildTimeline } from './build.ts';
import { kindOfTool } from './kinds.ts';
import { costOfSpent, tokensIn } from './spent.ts';
import { call, entriesOf, result } from './test/events.ts';
import { microStrip, turnAt } from './turns.ts';

const usage = (responseId: string, inputTokens: number): [string, object] => [
  'usage',
  { responseId, inputTokens, outputTokens: 10 },
];

const { turns } = buildTimeline(
  entriesOf(
    ['session.meta', { title: 'A' }],
    ['user.message', { text: 'One' }, 10],
    call('a', 'Edit', { file_path: '/a.ts', old_string: 'a\nb', new_string: 'c' }),
    ['tool.result', { callId: 'a' }, 30],
    usage('r1', 100) as never,
    usage('r1', 120) as never,
    ['user.message', { text: 'Two' }, 4000],
    call('b', 'Bash'),
    result('b', { isError: true }),
    usage('r2', 50) as never,
    ['turn.finished', { reason: 'aborted' }, 4100],
  ),
);

test('a turn is a prompt and everything up to the next prompt', () => {
  expect(turns.map(({ prompt }) => prompt?.text)).toEqual([undefined, 'One', 'Two']);
  expect(turns[1]).toMatchObject({
    calls: 1,
    failures: 0,
    added: 1,
    removed: 2,
    durationMs: 28_000,
    interrupted: false,
  });
  expect([...(turns[1]?.files ?? [])]).toEqual(['/a.ts']);
  expect(turns[2]).toMatchObject({ calls: 1, failures: 1, interrupted: true });
});

test('a response that is reported again counts once, in its own turn', () => {
  expect(turns.map(({ spent }) => tokensIn(spent))).toEqual([0, 130, 60]);
});

test('turns and sub-agents are priced by model, day, terms and the length of each prompt', () => {
  const row = (model: string, factor: number, more: Partial<SessionFacts['usage'][number]> = {}) => ({
    ...{ day: '2026-11-21', model, terms: '', inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 },
    ...{ cacheWrite1hTokens: 0, outputTokens: 0, webSearches: 0 },
    price: { input: factor, cached: 0.1, cacheWrite: 1, cacheWrite1h: 2, output: 10, webSearch: 10 },
    ...more,
  });
  const million = { inputTokens: 1e6, outputTokens: 0 };
  const { turns, lanes } = buildTimeline(
    entriesOf(
      ['session.meta', { model: 'small' }],
      ['user.message', { text: 'One' }],
      ['usage', { ...million, responseId: 'a', cacheReadTokens: 500_000 }],
      ['usage', { ...million, responseId: 'b', source: { subagent: 'helper' }, model: 'large' }],
      ['session.meta', { model: 'unknown' }],
      ['user.message', { text: 'Two' }],
      ['usage', { ...million, responseId: 'c' }],
      ['user.message', { text: 'Three' }],
      ['usage', { ...million, responseId: 'd', model: 'small', speed: 'fast' }],
      ['usage', { ...million, responseId: 'e', model: 'small', webSearches: 100 }],
      ['user.message', { text: 'Four' }],
      ['usage', { inputTokens: 1e6, responseId: 'f', model: 'large' }],
      ['usage', { inputTokens: 3e6, responseId: 'f', model: 'large' }],
    ),
  );
  const usage = [
    row('small', 1),
    row('small', 6, { terms: 'fast' }),
    row('large', 9, { above: 2_000_000 }),
    row('large', 3),
  ];
  expect(turns.map(({ spent }) => costOfSpent(spent, usage))).toEqual([undefined, 0.55 + 3, undefined, 6 + 1 + 1, 27]);
  expect(lanes.map(({ spent }) => costOfSpent(spent, usage))).toEqual([3]);
});

test('every event is in the turn of the prompt before it', () => {
  expect([1, 2, 5, 7, 11, 99].map((order) => turnAt(turns, order))).toEqual([0, 1, 1, 2, 2, 2]);
});

test('the ticks of a turn show failures and edits, however many calls there are', () => {
  const calls = Array.from({ length: 500 }, (_, index) => call(String(index), 'Read'));
  const all = buildTimeline(entriesOf(['user.message'], ...calls, result('123', { isError: true })));
  const strip = microStrip(all.turns[0] as (typeof all.turns)[number]);
  expect(strip.length).toBeLessThanOrEqual(36);
  expect(strip.filter((kind) => kind === 'failure')).toHaveLength(1);
});

test.each([
  ['Read', 'read'],
  ['Grep', 'read'],
  ['search_file_content', 'read'],
  ['Bash', 'run'],
  ['exec_command', 'run'],
  ['apply_patch', 'edit'],
  ['WebFetch', 'web'],
  ['Task', 'subagent'],
  ['TaskUpdate', 'run'],
])('%s is of the kind %s', (name, kind) => {
  expect(kindOfTool(name)).toBe(kind);
});

test('lines of an index are read however the stream is cut', async () => {
  const lines = [{ entries: [{ text: 'Grüße 👩‍💻' }] }, { entries: [] }, { entries: [{ text: 'b' }] }];
  const bytes = new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join('\n'));
  for (const size of [1, 7, 1000]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const read: unknown[] = [];
    for await (const line of readLines(body)) read.push(line);
    expect(read).toEqual(lines);
  }
});
