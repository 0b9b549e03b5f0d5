import type { OverviewSearch } from '../../contract/pages.ts';
import type { DayFigures, Figures } from '../../contract/review.ts';
import type { Filter } from '../../contract/written-query.ts';

/** Days as `YYYY-MM-DD`, UTC, both included. */
export interface Range {
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
/** More bars than this are too thin to point at; a longer range has one bar for each week. */
const MAX_BARS = 120;
/** The service adds up at most this many days. */
const MAX_RANGE = 366;

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
export const addDays = (day: string, count: number): string => dayOf(Date.parse(day) + count * DAY_MS);

/** The filters for sessions that started in a range. They name times, because a date would begin in the reader's time zone. */
export const filtersOf = ({ from, to }: Range): Filter[] => [
  { field: 'after', value: `${from}T00:00Z` },
  { field: 'before', value: `${addDays(to, 1)}T00:00Z` },
];

/** The range in the address, at most a year; by default the last 30 days. */
export function rangeOf({ from, to, days }: OverviewSearch, now: number): Range {
  if (from && to) {
    const earliest = addDays(to, 1 - MAX_RANGE);
    return { from: from < earliest ? earliest : from, to };
  }
  const today = dayOf(now);
  return { from: addDays(today, 1 - (days ?? 30)), to: today };
}

/** The bars of a range: one for each day, or for each week from Monday. The range may cut the first and the last week. */
export function slotsOf({ from, to }: Range): Range[] {
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  const days = Array.from({ length: count }, (_, index) => addDays(from, index));
  if (count <= MAX_BARS) return days.map((day) => ({ from: day, to: day }));
  const slots: Range[] = [];
  for (const day of days) {
    const last = slots.at(-1);
    if (last && new Date(day).getUTCDay() !== 1) last.to = day;
    else slots.push({ from: day, to: day });
  }
  return slots;
}

const NOTHING: Figures = {
  sessions: 0,
  prompts: 0,
  toolCalls: 0,
  failures: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
};

/** The figures of each slot; missing days count as zero. */
export function sumBySlot(days: readonly DayFigures[], slots: readonly Range[]): Figures[] {
  const sums = slots.map(() => ({ ...NOTHING }));
  for (const { day, ...figures } of days) {
    const sum = sums[slots.findIndex(({ from, to }) => from <= day && day <= to)];
    if (sum) addFigures(sum, figures);
  }
  return sums;
}

function addFigures(sum: Figures, figures: Figures): void {
  for (const name of Object.keys(figures) as (keyof Figures)[]) sum[name] = (sum[name] ?? 0) + (figures[name] ?? 0);
}
