import { type DayFigures, DIMENSIONS, type Figures, type SessionSummary, type Usage } from '../../contract/review.ts';
import { FIGURES, type FigureChange } from '../store/figures.ts';
import type { Db } from '../store/open.ts';
import { toSession } from '../store/sessions.ts';
import { findSummaries } from '../store/summaries.ts';
import {
  findConspicuous,
  findLargest,
  findLatest,
  type Order,
  readFigures,
  readTools,
  TooManyModels,
  type UsageFilter,
} from '../store/usage.ts';
import { heavy } from '../turns.ts';
import type { Prices } from './prices.ts';
import { toSummary } from './summary.ts';

type Row = Omit<FigureChange, 'dimension'>;

const MOST = { values: 20, tools: 50, attention: 5, running: 20, latest: 500 };
/** Beyond this, those of which there is most are looked for among those of all days. */
const FEW_SESSIONS = 5_000;
/** Heard of within this time, an open session is running. */
const RUNNING_MS = 15 * 60_000;

const ATTENTION: [Usage['attention'][number]['reason'], Order][] = [
  ['failures', 'failures'],
  ['longest', 'duration_ms'],
  ['expensive', 'cost'],
  ['interrupted', 'started_at'],
];

/**
 * Figures over all sessions of some days: from sums by day, however many sessions there are. Where more models are named
 * than one answer may read, all are counted as one that has no price.
 */
export async function readUsage(db: Db, filter: UsageFilter, prices: Prices, now: number): Promise<Usage> {
  try {
    return await readAll(db, filter, prices, now);
  } catch (error) {
    if (!(error instanceof TooManyModels)) throw error;
    return readAll(db, { ...filter, byModel: false }, prices, now);
  }
}

async function readAll(db: Db, filter: UsageFilter, prices: Prices, now: number): Promise<Usage> {
  const [all, hours, tools, latest] = await Promise.all([
    readFigures(db, filter, 'total'),
    readFigures(db, filter, 'hour'),
    readTools(db, filter, MOST.tools),
    findLatest(db, filter, MOST.latest),
  ]);
  const total = sum(all, prices);
  const groups = await Promise.all(DIMENSIONS.map((dimension) => readGroups(db, filter, dimension, all, prices)));
  const few = total.sessions <= FEW_SESSIONS;
  const found = await Promise.all(
    ATTENTION.map(async ([reason, order]) => {
      const rows = await findConspicuous(db, filter, order, few, MOST.attention);
      return rows.map(({ session_id, figure }) => ({ reason, figure, sessionId: session_id }));
    }),
  );
  const attention = found.flat();
  const isRunning = (row: (typeof latest)[number]) =>
    row.status === 'active' && Number(row.last_event_at) >= now - RUNNING_MS;
  const running = latest.filter(isRunning).slice(0, MOST.running);
  const shown = await readShown(db, filter.organizationId, [
    ...attention.map(({ sessionId }) => sessionId),
    ...running.map(({ session_id }) => session_id),
  ]);
  return {
    ...{ from: filter.from, to: filter.to, total },
    days: byDay(all, prices),
    groups: groups.flat(),
    tools: tools.map(({ value, calls, failed }) => ({ name: value, calls, failed })),
    hours: byHour(hours),
    attention: attention.flatMap(({ reason, figure, sessionId }) => {
      const session = shown.get(sessionId);
      return session ? [{ reason, figure, ...session }] : [];
    }),
    running: running.flatMap(({ session_id }) => shown.get(session_id) ?? []),
    machines: machinesOf(latest),
    pricesOf: prices.date,
    unpricedTokens: unpriced(all, prices),
  };
}

/** The largest values, and the rest of all as the value "". */
async function readGroups(
  db: Db,
  filter: UsageFilter,
  dimension: (typeof DIMENSIONS)[number],
  all: readonly Row[],
  prices: Prices,
): Promise<Usage['groups']> {
  const values = await findLargest(db, filter, dimension, MOST.values);
  const rows = values.length === 0 ? [] : await readFigures(db, filter, dimension, values);
  const group = (value: string, own: readonly Row[]) => ({
    ...{ dimension, value },
    ...sum(own, prices),
    days: byDay(own, prices),
  });
  // Of a year they are some 100,000 rows together.
  const byValue = await heavy(() => Map.groupBy(rows, ({ value }) => value));
  const groups: Usage['groups'] = [];
  for (const value of values) groups.push(await heavy(() => group(value, byValue.get(value) ?? [])));
  const rest = await heavy(() => group('', without(all, rows)));
  const isThere = rest.sessions > 0 || rest.prompts > 0 || rest.inputTokens + rest.outputTokens > 0;
  return isThere ? [...groups, rest] : groups;
}

/** What is left of `all` without `rows`, by day and model: a price is paid for what is left as a whole. */
function without(all: readonly Row[], rows: readonly Row[]): Row[] {
  const left = new Map(all.map((row) => [keyOf(row), { ...row }]));
  for (const row of rows) {
    const rest = left.get(keyOf(row));
    if (rest) for (const name of FIGURES) rest[name] = Math.max(0, rest[name] - row[name]);
  }
  return [...left.values()];
}

const keyOf = ({ day, model }: Row) => `${day} ${model}`;

function sum(rows: readonly Row[], prices: Prices): Figures {
  const total = (name: keyof Row) => rows.reduce((sum, row) => sum + Number(row[name]), 0);
  const costs = rows.flatMap((row) => costOf(row, prices) ?? []);
  return {
    sessions: total('sessions'),
    prompts: total('prompts'),
    toolCalls: total('tool_calls'),
    failures: total('failures'),
    inputTokens: total('input_tokens'),
    cachedTokens: total('cached_tokens'),
    outputTokens: total('output_tokens'),
    ...(costs.length > 0 && {
      cost: Math.max(
        0,
        costs.reduce((one, other) => one + other, 0),
      ),
    }),
  };
}

const tokensOf = (row: Row) => row.input_tokens + row.output_tokens;

/** What is paid for nothing is no cost of zero: it would hide that the rest has no known price. */
const costOf = (row: Row, prices: Prices): number | undefined =>
  row.model === '' || tokensOf(row) === 0
    ? undefined
    : prices.costOf(row.model, row.day, [
        row.input_tokens,
        row.cached_tokens,
        row.cache_write_tokens,
        row.output_tokens,
      ]);

const unpriced = (rows: readonly Row[], prices: Prices): number =>
  rows.filter((row) => costOf(row, prices) === undefined).reduce((total, row) => total + tokensOf(row), 0);

const byDay = (rows: readonly Row[], prices: Prices): DayFigures[] =>
  [...Map.groupBy(rows, ({ day }) => day)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([day, own]) => ({ day, ...sum(own, prices) }));

/** Hours of the week, Monday 00:00 UTC first. */
function byHour(rows: readonly Row[]): number[] {
  const hours = Array.from({ length: 168 }, () => 0);
  for (const { day, value, tool_calls: count } of rows) {
    const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
    const at = weekday * 24 + Number(value);
    hours[at] = (hours[at] ?? 0) + count;
  }
  return hours;
}

function machinesOf(latest: Awaited<ReturnType<typeof findLatest>>): Usage['machines'] {
  const machines = new Map<string, Usage['machines'][number]>();
  for (const { environment_id: environmentId, lag_ms: lagMs, created_at: createdAt, ended_at: endedAt } of latest) {
    // What had ended before it was sent was imported: nobody waited for it.
    if (endedAt !== null && endedAt < createdAt) continue;
    if (!machines.has(environmentId)) machines.set(environmentId, { environmentId, ...(lagMs !== null && { lagMs }) });
  }
  return [...machines.values()];
}

async function readShown(db: Db, organizationId: string, sessionIds: readonly string[]) {
  const rows = await findSummaries(db, organizationId, [...new Set(sessionIds)]);
  return new Map(
    rows.map((row): [string, { session: ReturnType<typeof toSession>; summary: SessionSummary }] => [
      row.session.session_id,
      { session: toSession(row.session), summary: toSummary(row) },
    ]),
  );
}
