import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { settleTimes } from '../../../transcript/entry/times.ts';
import { createAxis } from './axis.ts';
import { buildTimeline } from './build.ts';
import { boundContext, buildStrip, countKinds, testStretches, windowInUse } from './strip.ts';
import { call, entriesOf, type Given, result } from './test/events.ts';

const stripOf = (...events: Parameters<typeof entriesOf>) => buildStrip(buildTimeline(entriesOf(...events)));

describe('the axis', () => {
  const minutes = (...times: number[]) => createAxis(times.map((each) => each * 60_000));

  test('makes a long pause narrow and shows its duration', () => {
    const axis = minutes(0, 4, 8, 2000, 2004);
    expect(axis.breaks).toMatchObject([{ durationMs: 1992 * 60_000 }]);
    const widths = axis.breaks.map(({ from, to }) => to - from);
    expect(Math.min(...widths)).toBeGreaterThan(0.01);
    expect(Math.max(...widths)).toBeLessThan(0.03);
  });

  test('leaves two thirds of the width to activity, however many pauses there are', () => {
    const { breaks } = createAxis(Array.from({ length: 2000 }, (_, index) => index * 600_000 + (index % 2) * 1000));
    expect(breaks.reduce((sum, { from, to }) => sum + to - from, 0)).toBeLessThanOrEqual(0.34);
  });

  test('keeps the order of times between 0 and 1 and can be inverted', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 1 }), (given) => {
        const times = given.toSorted((a, b) => a - b);
        const axis = createAxis(times);
        const places = times.map(axis.place);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        for (const place of places) expect(place >= 0 && place <= 1).toBe(true);
        if (axis.end > axis.start)
          for (const [at, time] of times.entries()) {
            expect(Math.abs(axis.timeAt(places[at] as number) - time)).toBeLessThan(1);
          }
      }),
      runs(200),
    );
  });

  test('works without times and with a single time', () => {
    expect(createAxis([]).place(5)).toBe(0);
    expect(minutes(7, 7).place(420_000)).toBe(0);
  });
});

test('the strip distinguishes kinds and counts them by slice', () => {
  const strip = stripOf(
    ['user.message', {}, 0],
    call('a', 'Write', { file_path: '/a', content: 'x' }),
    ['tool.call', { callId: 'b', name: 'Grep' }, 50],
    ['tool.result', { callId: 'b', isError: true }, 100],
  );
  expect(strip.marks.map(({ kind }) => kind)).toEqual(['person', 'edit', 'read', 'failure']);
  expect(countKinds(strip, 4, ['read', 'failure']).map((row) => [...row])).toEqual([
    [0, 0, 1, 0],
    [0, 0, 0, 1],
  ]);
});

test('the fill of the context comes from the conversation only, and drops at a compaction', () => {
  const usage = (inputTokens: number, more = {}): [string, object] => [
    'usage',
    { inputTokens, outputTokens: 1, ...more },
  ];
  const { context } = stripOf(
    ...([
      usage(100),
      usage(900, { source: { subagent: 'a' } }),
      usage(0),
      usage(200),
      ['compaction'],
      usage(20),
    ] as never[]),
  );
  expect(context.map(({ tokens }) => tokens)).toEqual([101, 201, 21]);
});

test('sub-agents that ran at the same time are in different rows, and rows beyond four are counted', () => {
  const lane = (name: string, start: number, end: number) =>
    [start, end].map((seconds) => ['assistant.message', { text: 'x', source: { subagent: name } }, seconds]);
  const strip = stripOf(
    ...([
      ['user.message', {}, 0],
      ...lane('a', 1, 50),
      ...lane('b', 2, 20),
      ...lane('c', 30, 40),
      ...['d', 'e', 'f'].flatMap((name) => lane(name, 3, 60)),
    ] as never[]),
  );
  expect(strip.lanes.map(({ lane: { lane: name }, row }) => `${name} ${row}`)).toEqual([
    'a 0',
    'b 1',
    'd 2',
    'e 3',
    'c 1',
  ]);
  expect(strip.hiddenRows).toBe(1);
});

test('a range of the session has an axis of its own', () => {
  const timeline = buildTimeline(
    entriesOf(['user.message', {}, 0], ['error', {}, 60], ['error', {}, 70], ['error', {}, 90]),
  );
  const { axis, marks } = buildStrip(timeline, { from: 2, to: 3 });
  expect([marks.length, axis.end - axis.start]).toEqual([2, 10_000]);
});

test('without times, the order of events is the axis', () => {
  const strip = stripOf(['user.message', {}, 0], ['error', {}, 0], ['error', {}, 0]);
  expect(strip.marks.map(({ time }) => strip.axis.place(time))).toEqual([0, 0.5, 1]);
  expect(strip.axis.place(strip.timeOf(2))).toBe(0.5);
});

test('an entry without a time has the time of the entry before it in its lane', () => {
  const untimed = { occurredAt: undefined };
  const entries = settleTimes(
    entriesOf(['record', untimed], ['user.message', {}, 5], result('a'), ['record', untimed]),
  );
  expect(entries.map((entry) => new Date(entry?.time ?? 0).getUTCSeconds())).toEqual([5, 5, 2, 2]);
});

test.each([
  [150_000, 200_000],
  [199_999, 200_000],
  [350_000, 1_000_000],
])('a session with up to %i tokens in its context has a window of %i', (used, expected) => {
  const { entries } = buildTimeline(entriesOf(['usage', { inputTokens: used - 1, outputTokens: 1, model: 'm' }]));
  expect(windowInUse({ entries }, { usualWindow: 200_000, contextWindow: 1_000_000 })).toBe(expected);
  expect(windowInUse({ entries }, { contextWindow: 272_000 })).toBe(272_000);
  expect(windowInUse({ entries }, {})).toBeUndefined();
});

test('each slice has the least and the greatest context, or repeats the last one', () => {
  const usage = (inputTokens: number, seconds: number): Given => ['usage', { inputTokens, outputTokens: 0 }, seconds];
  const strip = stripOf(['user.message', {}, 0], usage(10, 1), usage(70, 2), usage(40, 3), usage(90, 7), [
    'error',
    {},
    8,
  ]);
  expect(boundContext(strip, 4)).toEqual([
    { least: 10, most: 10 },
    { least: 10, most: 70 },
    { least: 40, most: 40 },
    { least: 40, most: 90 },
  ]);
});

test('tests are red or green from each run that changed this to the next one, also within a range', () => {
  const strip = stripOf(...Array.from({ length: 11 }, (_, at): Given => ['user.message', { text: 'Go' }, at]));
  const turned = [
    { kind: 'tests', sequence: 3, text: '', passed: false },
    { kind: 'commit', sequence: 4, text: '' },
    { kind: 'tests', sequence: 6, text: '', passed: true },
  ] as const;
  expect(testStretches(strip, turned)).toEqual([
    { from: 0.2, to: 0.5, passed: false },
    { from: 0.5, to: 1, passed: true },
  ]);
  expect(testStretches(strip, turned, { from: 7, to: 9 })).toEqual([{ from: 0, to: 1, passed: true }]);
  expect(testStretches(strip, turned, { from: 1, to: 2 })).toEqual([]);
});
