import type { Milestone, SessionFacts } from '../../../contract/review.ts';
import type { Entry } from '../../../transcript/entry/entry.ts';
import { orderOf } from '../../../transcript/entry/revisions.ts';
import { type Axis, createAxis } from './axis.ts';
import type { Timeline } from './build.ts';
import type { LaneItem } from './items.ts';
import { type Kind, kindOfEntry } from './kinds.ts';

/** An event on the axis. */
export interface Mark {
  entry: Entry;
  kind: Kind;
  time: number;
}

/** The data of the strip. Times are epoch milliseconds, or positions in the log if the agent records no times. */
export interface Strip {
  axis: Axis;
  /** Sorted by time. */
  marks: readonly Mark[];
  /** Tokens in the model's context after each response of the conversation. */
  context: readonly { time: number; tokens: number }[];
  /** Sub-agents that ran at the same time are in different rows. */
  lanes: readonly { lane: LaneItem; row: number; start: number; end: number }[];
  /** The number of rows of sub-agents that are not drawn. */
  hiddenRows: number;
  timeOf(order: number): number;
}

/**
 * Tokens in the context of the conversation after a response; undefined for other entries. Agents also write made-up
 * responses to report an interruption; these have no input.
 */
const contextAfter = (entry: Entry): number | undefined =>
  entry.kind === 'usage' && entry.lane === undefined && entry.usage.input > 0
    ? entry.usage.input + entry.usage.output
    : undefined;

/**
 * The context window of a session in tokens: the usual window of its model, or the large one if the session used more.
 * Undefined if the model's window is unknown.
 */
export function windowInUse(
  { entries }: Pick<Timeline, 'entries'>,
  { usualWindow, contextWindow }: Pick<SessionFacts, 'usualWindow' | 'contextWindow'>,
): number | undefined {
  if (usualWindow === undefined) return contextWindow;
  const isLarger = entries.some((entry) => (contextAfter(entry) ?? 0) > usualWindow);
  return isLarger ? contextWindow : usualWindow;
}

/** Rows for sub-agents that ran at the same time. */
export const LANE_ROWS = 4;

/** @param range limits the strip to these orders */
export function buildStrip({ entries, lanes }: Timeline, range?: { from: number; to: number }): Strip {
  const isInside = (entry: Entry) => !range || (orderOf(entry) >= range.from && orderOf(entry) <= range.to);
  const marks: Mark[] = [];
  const context: { time: number; tokens: number }[] = [];
  const orders: number[] = [];
  const times: number[] = [];
  const inside = entries.filter(isInside);
  // If all events have the same time, the strip shows their order.
  const isTimed = inside.some(({ time }) => time !== inside[0]?.time);
  for (const [index, entry] of inside.entries()) {
    const time = isTimed ? entry.time : index * 1000;
    const kind = kindOfEntry(entry);
    if (kind) marks.push({ entry, kind, time });
    const tokens = contextAfter(entry);
    if (tokens !== undefined) context.push({ time, tokens });
    if (entry.lane === undefined) {
      orders.push(orderOf(entry));
      times.push(time);
    }
  }
  marks.sort((a, b) => a.time - b.time);
  const { placed, rows } = placeLanes(isTimed ? lanes : [], marks[0]?.time ?? 0, marks.at(-1)?.time ?? 0);
  return {
    axis: createAxis(marks.map(({ time }) => time)),
    marks,
    context,
    lanes: placed,
    hiddenRows: Math.max(0, rows - LANE_ROWS),
    timeOf: (order) => times[lastAtMost(orders, order)] ?? 0,
  };
}

function placeLanes(lanes: readonly LaneItem[], from: number, to: number) {
  const ends: number[] = [];
  const sorted = lanes
    .map((lane) => ({ lane, start: lane.time, end: lane.time + lane.durationMs }))
    .filter(({ start, end }) => end >= from && start <= to)
    .sort((a, b) => a.start - b.start);
  const all = sorted.map((each) => {
    const free = ends.findIndex((end) => end <= each.start);
    const row = free < 0 ? ends.length : free;
    ends[row] = each.end;
    return { ...each, row };
  });
  return { placed: all.filter(({ row }) => row < LANE_ROWS), rows: ends.length };
}

/** The index of the last value that is at most `most`; 0 if there is none. */
export function lastAtMost(values: readonly number[], most: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] as number) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The least and the greatest context in each of `count` slices of the axis, in tokens. A slice without a response repeats the
 * last value.
 */
export function boundContext({ axis, context }: Pick<Strip, 'axis' | 'context'>, count: number) {
  const bands: ({ least: number; most: number } | undefined)[] = Array.from({ length: count }, () => undefined);
  let before: number | undefined;
  let latest = 0;
  for (const { time, tokens } of context) {
    const slice = Math.min(count - 1, Math.floor(axis.place(time) * count));
    if (before !== undefined) {
      for (let at = latest + 1; at < slice; at++) bands[at] ??= { least: before, most: before };
    }
    const { least, most } = bands[slice] ?? { least: before ?? tokens, most: before ?? tokens };
    bands[slice] = { least: Math.min(least, tokens), most: Math.max(most, tokens) };
    [before, latest] = [tokens, slice];
  }
  return bands;
}

/** Stretches of the axis in which tests were red or green: from each run that changed this to the next one. */
export function testStretches(
  { axis, timeOf }: Pick<Strip, 'axis' | 'timeOf'>,
  milestones: readonly Milestone[],
  range?: { from: number; to: number },
): { from: number; to: number; passed: boolean }[] {
  const runs = milestones.filter(({ kind, sequence }) => kind === 'tests' && sequence <= (range?.to ?? sequence));
  return runs.flatMap(({ sequence, passed = false }, index) => {
    const next = runs[index + 1]?.sequence;
    if (range && next !== undefined && next <= range.from) return [];
    const from = range && sequence < range.from ? 0 : axis.place(timeOf(sequence));
    return [{ from, to: next === undefined ? 1 : axis.place(timeOf(next)), passed }];
  });
}

/** Counts each kind in each of `count` slices of the axis. */
export function countKinds({ axis, marks }: Strip, count: number, kinds: readonly Kind[]): Uint16Array[] {
  const counts = kinds.map(() => new Uint16Array(count));
  for (const { kind, time } of marks) {
    const slice = Math.min(count - 1, Math.floor(axis.place(time) * count));
    const row = counts[kinds.indexOf(kind)];
    if (row) row[slice] = Math.min(65_535, (row[slice] ?? 0) + 1);
  }
  return counts;
}
