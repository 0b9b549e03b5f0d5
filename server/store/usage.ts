import { sql } from 'kysely';
import { ofEngine } from './dialect.ts';
import type { Db, UsageDayRow } from './schema.ts';
import { type Days, FIGURES, sumOf } from './summed-days.ts';
import { asOrganization } from './tenant.ts';
import { isNamed, named, type Viewer } from './viewer.ts';

export type UsageFilter = Days;

type Dimension = UsageDayRow['dimension'];

/** Figures of a day, or of the requested days of a week; `day` is the first one with figures. */
export type UsageSum = Pick<UsageDayRow, 'day' | 'value' | (typeof FIGURES)[number]>;

const inDays = (db: Db, { organizationId, planes, from, to }: UsageFilter, dimension: Dimension) =>
  db
    .selectFrom('usage_days')
    .where('organization_id', '=', organizationId)
    .where('plane', 'in', [...planes])
    .where('dimension', '=', dimension)
    .where(dayOf(db), '>=', from)
    .where(dayOf(db), '<=', to);

/** SQLite would look the days up by their index and then sort. The plus makes it read the key, which is in order. */
const dayOf = (db: Db) => ofEngine(db, { sqlite: sql<string>`+day`, postgres: sql<string>`day` });

/** The figures of all sessions by day. */
export const readTotals = (db: Db, filter: UsageFilter) =>
  inDays(db, filter, 'total')
    .select(['day', 'week'])
    .select(FIGURES.map((name) => sumOf(name).as(name)))
    .groupBy(['day', 'week'])
    .orderBy('day')
    .execute();

/** The figures of some values of a dimension, by day or by week. */
export const readValues = (
  db: Db,
  filter: UsageFilter,
  dimension: Dimension,
  values: readonly string[],
  by: 'day' | 'week',
): Promise<UsageSum[]> =>
  inDays(db, filter, dimension)
    .where('value', 'in', [...values])
    .select(['value', ({ fn }) => fn.min<string>('day').as('day')])
    .select(FIGURES.map((name) => sumOf(name).as(name)))
    .groupBy(['value', by])
    .orderBy(by)
    .execute() as Promise<UsageSum[]>;

/** The largest values of a dimension: by sessions, then by tokens. */
export async function findLargest(db: Db, filter: UsageFilter, dimension: Dimension, limit: number): Promise<string[]> {
  const rows = await inDays(db, filter, dimension)
    .select('value')
    .groupBy('value')
    .orderBy(sumOf('sessions'), 'desc')
    .orderBy(sql`sum(input_tokens + output_tokens)`, 'desc')
    .orderBy('value')
    .limit(limit)
    .execute();
  return rows.map(({ value }) => value);
}

/** Tools, or hours of the week, by how often something was called in them. */
export const readCalls = (db: Db, filter: UsageFilter, dimension: 'tool' | 'hour', limit: number) =>
  inDays(db, filter, dimension)
    .select(['value', sumOf('tool_calls').as('calls'), sumOf('failures').as('failed')])
    .groupBy('value')
    .orderBy(sumOf('tool_calls'), 'desc')
    .orderBy('value')
    .limit(limit)
    .execute();

/** The column that ranks top sessions. */
export type Order = 'failures' | 'duration_ms' | 'cost' | 'started_at';

/** How many of the all-time top sessions are read first. */
const MOST_RANKED = 2_000;
/** The most sessions of a period that are compared. With a limit, the order decides which index is read. */
const MOST_COMPARED = 1_000_000;

/**
 * Finds the top sessions of a period by one column, or the latest interrupted ones, that the viewer may know of. With many sessions in the period, it
 * looks among the all-time top first; otherwise it compares all sessions of the period.
 * @param few whether the period has at most a few thousand sessions
 */
export const findTopSessions = (
  db: Db,
  viewer: Viewer,
  filter: UsageFilter,
  order: Order,
  few: boolean,
  limit: number,
  mostRanked = MOST_RANKED,
): Promise<TopSession[]> =>
  // The second wall would hide from `isNamed` the very sessions that it leaves out.
  asOrganization(viewer.organizationId, () => rankSessions(db, viewer, filter, order, few, limit, mostRanked));

interface TopSession {
  session_id: string;
  figure: number;
}

async function rankSessions(
  db: Db,
  viewer: Viewer,
  { planes, from, to }: UsageFilter,
  order: Order,
  few: boolean,
  limit: number,
  mostRanked: number,
): Promise<TopSession[]> {
  const [since, until] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T23:59:59.999Z`)];
  // As it is indexed.
  const figure = order === 'cost' ? sql<number>`coalesce(cost, 0)` : sql.ref<number>(order);
  const found = planes.map(async (plane) => {
    const mine = db
      .selectFrom('session_facts')
      .select(['session_id', 'started_at', figure.as('figure')])
      .where('organization_id', '=', viewer.organizationId)
      .where('plane', '=', plane)
      .where(isNamed(viewer, 'session_facts.session_id'));
    const inDays = mine.where('started_at', '>=', since).where('started_at', '<=', until).orderBy('started_at', 'desc');
    if (order === 'started_at') return inDays.where('interrupted', '=', sql.lit(1)).limit(limit).execute();
    const among = (ranked: typeof mine) =>
      db
        .selectFrom(ranked.as('ranked'))
        .select(['session_id', 'figure'])
        .where('figure', '>', 0)
        .where('started_at', '>=', since)
        .where('started_at', '<=', until)
        .orderBy('figure', 'desc')
        .limit(limit)
        .execute();
    if (!few) {
      const most = mine.where(figure, '>', 0).orderBy(figure, 'desc').orderBy('session_id', 'desc');
      const first = await among(most.limit(mostRanked));
      const isAll = first.length === limit || (await most.offset(mostRanked).limit(1).execute()).length === 0;
      if (isAll) return first;
    }
    return among(inDays.limit(MOST_COMPARED));
  });
  const rows = (await Promise.all(found)).flat();
  return rows.sort((one, other) => other.figure - one.figure).slice(0, limit);
}

/** The sessions with the latest events that the viewer may know of, the latest first. */
export async function findLatest(db: Db, viewer: Viewer, { planes }: UsageFilter, limit: number) {
  const found = planes.map((plane) =>
    db
      .selectFrom('session_facts as facts')
      .innerJoin('sessions', 'sessions.session_id', 'facts.session_id')
      .select(['facts.session_id', 'facts.last_event_at', 'facts.lag_ms', 'sessions.environment_id', 'sessions.status'])
      .select(['sessions.created_at', 'sessions.ended_at'])
      .where('facts.organization_id', '=', viewer.organizationId)
      .where('facts.plane', '=', plane)
      .where('facts.last_event_at', 'is not', null)
      .where(named(viewer))
      .orderBy('facts.last_event_at', 'desc')
      .limit(limit)
      .execute(),
  );
  const rows = (await Promise.all(found)).flat();
  return rows.sort((one, other) => Number(other.last_event_at) - Number(one.last_event_at)).slice(0, limit);
}
