import { describe, expect, test } from 'vitest';
import type { DayFigures, Usage } from '../../contract/review.ts';
import { formatCost } from '../kit/format.ts';
import { rangeOf, slotsOf, sumBySlot } from '../shared/series-slots.ts';
import { layOutPlot, nameTicks } from './plot-layout.ts';
import { failureRateOf, groupsOf, readGroupSeries, readTokenSeries, type Series, sessionsOf } from './series.ts';

const SIZE = { height: 128 };

const NOW = Date.parse('2026-11-21T23:30:00.000Z');

const day = (name: string, figures: Partial<DayFigures> = {}): DayFigures => ({
  day: name,
  sessions: 1,
  prompts: 0,
  toolCalls: 0,
  failures: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  ...figures,
});
const group = (value: string, sessions: number): Usage['groups'][number] => ({
  ...day('2026-11-21', { sessions }),
  dimension: 'model',
  value,
  days: [day('2026-11-21', { sessions })],
});

describe('the days of the overview', () => {
  test.each([
    [{}, { from: '2026-10-23', to: '2026-11-21' }],
    [{ days: 7 } as const, { from: '2026-11-15', to: '2026-11-21' }],
    [
      { from: '2026-02-27', to: '2026-03-01' },
      { from: '2026-02-27', to: '2026-03-01' },
    ],
    [
      { from: '2020-01-01', to: '2026-11-20' },
      { from: '2025-11-20', to: '2026-11-20' },
    ],
  ])('are in UTC and at most a year: %j', (search, range) => {
    expect(rangeOf(search, NOW)).toEqual(range);
  });

  test('have a bar each, also without sessions', () => {
    const slots = slotsOf({ from: '2026-02-27', to: '2026-03-01' });
    expect(slots.map(({ from }) => from)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
    expect(sumBySlot([day('2026-02-28', { sessions: 4, cost: 1.5 })], slots)).toMatchObject([
      { sessions: 0 },
      { sessions: 4, cost: 1.5 },
      { sessions: 0 },
    ]);
  });

  test('of a year are grouped by weeks from Monday, and none is lost', () => {
    const slots = slotsOf({ from: '2026-01-01', to: '2026-12-31' });
    expect(slots).toHaveLength(53);
    expect(slots.slice(0, 2)).toEqual([
      { from: '2026-01-01', to: '2026-01-04' },
      { from: '2026-01-05', to: '2026-01-11' },
    ]);
    const days = Array.from({ length: 365 }, (_, at) =>
      day(new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10)),
    );
    expect(sumBySlot(days, slots).reduce((sum, { sessions }) => sum + sessions, 0)).toBe(365);
  });
});

describe('series', () => {
  const slots = slotsOf({ from: '2026-11-20', to: '2026-11-21' });
  const read = (groups: Usage['groups']) =>
    readGroupSeries({
      groups,
      slots,
      figureOf: ({ sessions }) => sessions,
      nameOf: ({ value }) => value,
      colorOf: (_, place) => `var(--plot-${place + 1})`,
    });

  test('are the five largest groups, and the others together', () => {
    const groups = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((value, at) => group(value, at + 1));
    const series = read([...groups, group('', 100)]);
    expect(series.map(({ label, total }) => [label, total])).toEqual([
      ['g', 7],
      ['f', 6],
      ['e', 5],
      ['d', 4],
      ['c', 3],
      ['others', 103],
    ]);
    expect(series[0]).toMatchObject({ values: [0, 7], filter: { field: 'model', value: 'g' } });
    expect(series.at(-1)).not.toHaveProperty('filter');
  });

  test('of a group without a figure are left out', () => {
    expect(read([group('a', 0), group('b', 2)]).map(({ label }) => label)).toEqual(['b']);
    expect(read([])).toEqual([]);
  });

  test('of tokens distinguish cached input', () => {
    const total = day('', { inputTokens: 100, cachedTokens: 80, outputTokens: 7 });
    expect(readTokenSeries(total, [total]).map(({ label, values }) => [label, values])).toEqual([
      ['cached input', [80]],
      ['input', [20]],
      ['output', [7]],
    ]);
  });

  test('of failures have no value without calls', () => {
    expect(failureRateOf(day('', { toolCalls: 0 }))).toBeUndefined();
    expect(failureRateOf(day('', { toolCalls: 8, failures: 2 }))).toBe(0.25);
  });

  test('are those of one dimension, with the rest last', () => {
    const usage = { groups: [group('', 9), group('a', 1), { ...group('x', 5), dimension: 'agent' }, group('b', 3)] };
    expect(groupsOf(usage as Usage, 'model').map(({ value }) => value)).toEqual(['b', 'a', '']);
  });
});

describe('a plot', () => {
  const series = (...values: (number | undefined)[]): Series => ({ label: 's', color: 'red', values, total: 0 });
  const slots = slotsOf({ from: '2026-11-01', to: '2026-11-30' });

  test('stacks its layers from zero, and the highest stays below the top', () => {
    const [a, b] = [series(1, 0, 4), series(2, 0, 4)];
    const { bars, ticks } = layOutPlot([a, b], slots.slice(0, 3), 300, 'bars', SIZE);
    expect(bars).toHaveLength(4);
    const third = bars.filter(({ slot }) => slot === 2);
    expect(third[0]?.y).toBe((third[1]?.y ?? 0) + (third[1]?.height ?? 0));
    expect(Math.max(...bars.map(({ y, height }) => y + height))).toBe(128);
    expect(Math.min(...bars.map(({ y }) => y))).toBeGreaterThanOrEqual(0);
    expect(ticks[0]).toEqual({ value: 0, y: 128 });
  });

  test('counts things in whole numbers', () => {
    const ticksOf = (isWhole: boolean) =>
      layOutPlot([series(1, 0, 0)], slots.slice(0, 3), 300, 'bars', { ...SIZE, isWhole }).ticks.map(
        ({ value }) => value,
      );
    expect(ticksOf(false)).toContain(0.5);
    expect(ticksOf(true)).toEqual([0, 1]);
  });

  test('shows one busy day as a thin bar among empty days', () => {
    const busy = Array.from({ length: 30 }, (_, at) => (at === 29 ? 8 : 0));
    const { bars, columns } = layOutPlot([series(...busy)], slots, 600, 'bars', SIZE);
    expect(bars).toHaveLength(1);
    expect(columns[29]?.width).toBeLessThan(20);
    expect((columns[29]?.x ?? 0) + (columns[29]?.width ?? 0)).toBeCloseTo(600, 0);
  });

  test('has no two lines with the same label', () => {
    const labels = (...values: number[]) =>
      nameTicks(
        values.map((value) => ({ value, y: 0 })),
        formatCost,
      ).map((tick) => tick.label);
    expect(labels(0, 0.001, 0.002, 0.003)).toEqual(['', '', '', '<$0.01']);
    expect(labels(0, 20, 40)).toEqual(['', '$20', '$40']);
  });

  test('breaks its line at a missing value', () => {
    const { lines } = layOutPlot([series(0.1, undefined, 0.3, 0.2)], slots.slice(0, 4), 400, 'line', SIZE);
    expect(lines[0]?.path.match(/M/g)).toHaveLength(2);
    expect(lines[0]?.points).toHaveLength(3);
  });

  test('labels as many days as there is room for, and works without width or values', () => {
    expect(layOutPlot([series()], slots, 600, 'bars', SIZE).days.length).toBeLessThanOrEqual(9);
    expect(layOutPlot([series(0, 0)], slots, 600, 'bars', SIZE).ticks).toEqual([{ value: 0, y: 128 }]);
    for (const width of [0, 1, 300]) {
      const { ticks, bars } = layOutPlot([], slots, width, 'bars', SIZE);
      expect(bars).toEqual([]);
      expect(ticks.every(({ y }) => Number.isFinite(y))).toBe(true);
    }
  });
});

test('a mark links to the sessions of its days, its group and its plane', () => {
  const week = { from: '2026-11-16', to: '2026-11-22' };
  const address = sessionsOf('test', week, { field: 'repo', value: 'two words' });
  expect(new URL(address, 'http://localhost').searchParams.get('q')).toBe(
    'repo:"two words" after:2026-11-16T00:00Z before:2026-11-23T00:00Z',
  );
  expect(address).toContain('plane=test');
  expect(sessionsOf(undefined, week)).not.toContain('plane');
});
