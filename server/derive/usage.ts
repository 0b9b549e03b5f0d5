import { DIMENSIONS, NOBODY } from '../../contract/names.ts';
import type { Grouping } from '../../contract/policy.ts';
import type { DayFigures, Figures, SessionSummary, Usage } from '../../contract/review.ts';
import { hourOfWeek } from '../../contract/written-query.ts';
import { toDollars } from '../../transcript/entry/cost.ts';
import { findNamedValues } from '../store/named-values.ts';
import type { Db } from '../store/schema.ts';
import { toSession } from '../store/sessions.ts';
import { findSummaries } from '../store/summaries.ts';
import { type Days, FIGURES, weekOf } from '../store/summed-days.ts';
import {
  findLargest,
  findLatest,
  findTopSessions,
  type Ranking,
  readCalls,
  readTotals,
  readValues,
  type UsageSum,
} from '../store/usage.ts';
import type { Viewer } from '../store/viewer.ts';
import { toSummary } from './review.ts';

/** The figures of the sums, without their day and group. */
type Sums = Pick<UsageSum, (typeof FIGURES)[number]>;
type DaySums = Omit<UsageSum, 'value'>;

const MOST = { values: 20, tools: 50, attention: 5, running: 20, latest: 500 };
/** How many values are looked at for each that is shown, because some may be of hidden sessions only. */
const CANDIDATES = 5;
const HOURS_OF_WEEK = 168;
/** For more days than this, groups are shown by week, so that an answer never has more than 2,400 rows. */
const MAX_BY_DAY = 120;
const DAY_MS = 86_400_000;
/** With more sessions than this, the sessions of all time are searched first for the top ones. */
const FEW_SESSIONS = 5_000;
/** An open session is running if its last contact was within this time. */
const RUNNING_MS = 15 * 60_000;

const ATTENTION: [Usage['attention'][number]['reason'], Ranking][] = [
  ['failures', 'failures'],
  ['longest', 'duration_ms'],
  ['expensive', 'cost'],
  ['interrupted', 'started_at'],
];

interface Settings {
  /** The day of the last review of the prices. */
  pricesOf: string;
  grouping: Grouping;
  now: number;
}

/**
 * The figures of all sessions of some days, from sums by day. The cost of this query does not depend on the number of sessions.
 * The sums count every session, but only sessions whose existence the viewer may know are named, and only names that such a session
 * has.
 */
export async function readUsage(
  db: Db,
  viewer: Viewer,
  filter: Days,
  { pricesOf, grouping, now }: Settings,
): Promise<Usage> {
  const [all, hours, tools, latest] = await Promise.all([
    readTotals(db, filter),
    readCalls(db, filter, 'hour', HOURS_OF_WEEK),
    readTools(db, viewer, filter),
    findLatest(db, viewer, filter, MOST.latest),
  ]);
  const total = add(all);
  const by = (Date.parse(filter.to) - Date.parse(filter.from)) / DAY_MS >= MAX_BY_DAY ? 'week' : 'day';
  const dimensions = DIMENSIONS.filter((dimension) => dimension !== 'person' || grouping.groupByPerson);
  const groups = await Promise.all(
    dimensions.map((dimension) => readGroups(db, viewer, filter, dimension, grouping, all, by)),
  );
  const few = total.sessions <= FEW_SESSIONS;
  const found = await Promise.all(
    ATTENTION.map(async ([reason, order]) => {
      const rows = await findTopSessions(db, viewer, filter, order, few, MOST.attention);
      return rows.map(({ session_id, figure }) => ({ reason, figure, sessionId: session_id }));
    }),
  );
  const attention = found.flat();
  const isRunning = (row: (typeof latest)[number]) =>
    row.status === 'active' && Number(row.last_event_at) >= now - RUNNING_MS;
  const running = latest.filter(isRunning).slice(0, MOST.running);
  const shown = await readShown(db, viewer, [
    ...attention.map(({ sessionId }) => sessionId),
    ...running.map(({ session_id }) => session_id),
  ]);
  return {
    from: filter.from,
    to: filter.to,
    total: toFigures(total),
    days: all.map(toDay),
    groups: groups.flat(),
    tools: tools.map(({ value, calls, failed }) => ({ name: value, calls, failed })),
    hours: byHour(hours),
    attention: attention.flatMap(({ reason, figure, sessionId }) => {
      const session = shown.get(sessionId);
      const inUnit = reason === 'expensive' ? toDollars(figure) : figure;
      return session ? [{ reason, figure: inUnit, ...session }] : [];
    }),
    running: running.flatMap(({ session_id }) => shown.get(session_id) ?? []),
    machines: machinesOf(latest),
    pricesOf,
    unpricedTokens: total.unpriced_tokens,
  };
}

/** The tools with the most calls. */
async function readTools(db: Db, viewer: Viewer, filter: Days) {
  const rows = await readCalls(db, filter, 'tool', MOST.tools * CANDIDATES);
  const isNamed = await findNamedValues(
    db,
    viewer,
    'tool',
    rows.map(({ value }) => value),
  );
  return rows.filter(({ value }) => isNamed.has(value)).slice(0, MOST.tools);
}

/** The largest values. All other sessions are summed under the value "". */
async function readGroups(
  db: Db,
  viewer: Viewer,
  filter: Days,
  dimension: (typeof DIMENSIONS)[number],
  grouping: Grouping,
  all: readonly DaySums[],
  by: 'day' | 'week',
): Promise<Usage['groups']> {
  const values =
    dimension === 'person' ? await findPeople(db, filter, grouping) : await findValues(db, viewer, filter, dimension);
  const rows = values.length === 0 ? [] : await readValues(db, filter, dimension, values, by);
  const group = (value: string, own: readonly DaySums[]) => ({
    dimension,
    value,
    ...toFigures(add(own)),
    days: own.map(toDay),
  });
  const byValue = Map.groupBy(rows, ({ value }) => value);
  const rest = restOf(all, rows, by);
  const isThere = rest.some(({ sessions, prompts, input_tokens, output_tokens }) => {
    return sessions > 0 || prompts > 0 || input_tokens + output_tokens > 0;
  });
  return [...values.map((value) => group(value, byValue.get(value) ?? [])), ...(isThere ? [group('', rest)] : [])];
}

/** The largest values. Agents and machines are named everywhere, so they tell of no session. */
async function findValues(db: Db, viewer: Viewer, filter: Days, dimension: (typeof DIMENSIONS)[number]) {
  if (dimension !== 'repository' && dimension !== 'model') return findLargest(db, filter, dimension, MOST.values);
  const values = await findLargest(db, filter, dimension, MOST.values * CANDIDATES);
  const isNamed = await findNamedValues(db, viewer, dimension, values);
  return values.filter((value) => isNamed.has(value)).slice(0, MOST.values);
}

/**
 * The people with the largest figures, and the sessions of nobody. It is empty if the days have fewer people than the smallest
 * group, because single people could then be recognized.
 */
async function findPeople(db: Db, filter: Days, { smallestGroup }: Grouping): Promise<string[]> {
  const values = await findLargest(db, filter, 'person', Math.max(MOST.values, smallestGroup) + 1);
  const people = values.filter((value) => value !== NOBODY);
  return people.length < smallestGroup ? [] : values.slice(0, MOST.values);
}

/** The sums of all sessions minus the sums of the rows, by day or week. */
function restOf(all: readonly DaySums[], rows: readonly UsageSum[], by: 'day' | 'week'): DaySums[] {
  const slotOf = ({ day }: DaySums) => (by === 'week' ? weekOf(day) : day);
  const shown = Map.groupBy(rows, slotOf);
  return [...Map.groupBy(all, slotOf)].map(([slot, days]) => ({
    day: days[0]?.day ?? slot,
    ...subtract(add(days), add(shown.get(slot) ?? [])),
  }));
}

const NOTHING = Object.fromEntries(FIGURES.map((name) => [name, 0])) as Sums;

function add(rows: readonly Sums[]): Sums {
  const sum = { ...NOTHING };
  for (const row of rows) for (const name of FIGURES) sum[name] += row[name];
  return sum;
}

function subtract(all: Sums, some: Sums): Sums {
  const rest = { ...NOTHING };
  for (const name of FIGURES) rest[name] = Math.max(0, all[name] - some[name]);
  return rest;
}

/** The cost is present if some tokens have a price. A cost of zero would hide that the rest has no price. */
const toFigures = (sums: Sums): Figures => ({
  sessions: sums.sessions,
  prompts: sums.prompts,
  toolCalls: sums.tool_calls,
  failures: sums.failures,
  inputTokens: sums.input_tokens,
  cachedTokens: sums.cached_tokens,
  outputTokens: sums.output_tokens,
  ...((sums.cost > 0 || sums.input_tokens + sums.output_tokens > sums.unpriced_tokens) && {
    cost: toDollars(sums.cost),
  }),
  ...(sums.unpriced_tokens > 0 && { unpricedTokens: sums.unpriced_tokens }),
});

const toDay = (sums: DaySums): DayFigures => ({ day: sums.day, ...toFigures(sums) });

/** Hours of the week, Monday 00:00 UTC first. */
function byHour(rows: readonly { value: string; calls: number }[]): number[] {
  const calls = new Map(rows.map((row) => [row.value, row.calls]));
  return Array.from({ length: HOURS_OF_WEEK }, (_, hour) => calls.get(hourOfWeek(hour)) ?? 0);
}

function machinesOf(latest: Awaited<ReturnType<typeof findLatest>>): Usage['machines'] {
  const machines = new Map<string, Usage['machines'][number]>();
  for (const { environment_id: environmentId, lag_ms: lagMs, created_at: createdAt, ended_at: endedAt } of latest) {
    // A session that ended before it was sent was imported. Its lag says nothing, because nobody waited for it.
    if (endedAt !== null && endedAt < createdAt) continue;
    if (!machines.has(environmentId)) machines.set(environmentId, { environmentId, ...(lagMs !== null && { lagMs }) });
  }
  return [...machines.values()];
}

async function readShown(db: Db, viewer: Viewer, sessionIds: readonly string[]) {
  const rows = await findSummaries(db, viewer, [...new Set(sessionIds)]);
  return new Map(
    rows.map((row): [string, { session: ReturnType<typeof toSession>; summary: SessionSummary }] => [
      row.session.session_id,
      { session: toSession(row.session), summary: toSummary(row) },
    ]),
  );
}
