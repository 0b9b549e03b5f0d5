import { sql } from 'kysely';
import { unindexed } from './dialect.ts';
import { allRows, NONE, type Sql } from './rows.ts';
import type { Db, SessionFactsRow, SessionRow, UsageDayRow } from './schema.ts';
import { countDays, type Days, type FIGURES, inDays, SUMS } from './summed-days.ts';
import { asOrganization } from './tenant.ts';
import { isNamed, named, type Viewer } from './viewer.ts';

type Dimension = UsageDayRow['dimension'];
type Figures = Pick<UsageDayRow, (typeof FIGURES)[number]>;

/** The figures of a day, or of the requested days of a week. `day` is the first day with figures. */
export type UsageSum = Pick<UsageDayRow, 'day' | 'value'> & Figures;

/** The rows of a dimension. @param day the column with the day; see `orderedDay` */
const sumsOf = (days: Days, dimension: Dimension, day?: Sql) => sql`
  usage_days where dimension = ${dimension} and ${inDays(days, day)}`;

/**
 * How many days SQLite looks up in their index. Of more days it reads all rows in the order of the key, and so need not sort them
 * by value. Of 255,000 rows of a year, the index finds the largest values of 30 days in 13 instead of 80 ms, and the key those of
 * the year in 127 instead of 197 ms.
 */
const MAX_LOOKED_UP = 100;

/** The day of a sum, for statements that group the rows by value. */
const orderedDay = (db: Db, days: Days) => (countDays(days) > MAX_LOOKED_UP ? unindexed(db, 'day') : undefined);

/** Reads the figures of all sessions by day. */
export const readTotals = (db: Db, days: Days) =>
  allRows(
    db,
    sql<Pick<UsageDayRow, 'day' | 'week'> & Figures>`
      select day, week, ${SUMS} from ${sumsOf(days, 'total')} group by day, week order by day`,
  );

/** Reads the figures of some values of a dimension, by day or by week. */
export const readValues = (db: Db, days: Days, dimension: Dimension, values: readonly string[], by: 'day' | 'week') =>
  allRows(
    db,
    sql<UsageSum>`
      select value, min(day) as day, ${SUMS} from ${sumsOf(days, dimension)} and value in (${sql.join([...values])})
      group by value, usage_days.${sql.ref(by)} order by usage_days.${sql.ref(by)}`,
  );

/** Finds the largest values of a dimension, by sessions and then by tokens. */
export async function findLargest(db: Db, days: Days, dimension: Dimension, limit: number): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<UsageDayRow, 'value'>>`
      select value from ${sumsOf(days, dimension, orderedDay(db, days))}
      group by value order by sum(sessions) desc, sum(input_tokens + output_tokens) desc, value limit ${limit}`,
  );
  return rows.map(({ value }) => value);
}

/** Reads the number of calls by tool or by hour of the week. */
export const readCalls = (db: Db, days: Days, dimension: 'tool' | 'hour', limit: number) =>
  allRows(
    db,
    sql<{ value: string; calls: number; failed: number }>`
      select value, cast(sum(tool_calls) as bigint) as calls, cast(sum(failures) as bigint) as failed
      from ${sumsOf(days, dimension, orderedDay(db, days))}
      group by value order by sum(tool_calls) desc, value limit ${limit}`,
  );

/** The column that ranks top sessions. */
export type Ranking = 'failures' | 'duration_ms' | 'cost' | 'started_at';

/** How many of the top sessions of all time are read first. */
const MAX_RANKED = 2_000;
/** How many sessions of a period are compared at most. Because of the limit, the order decides which index is read. */
const MAX_COMPARED = 1_000_000;

/**
 * Finds the top sessions of a period by one column, or the latest interrupted ones, among those that the viewer may know of. If
 * the period has many sessions, it searches the top sessions of all time first. Otherwise it compares all sessions of the period.
 * @param few whether the period has at most a few thousand sessions
 */
export const findTopSessions = (
  db: Db,
  viewer: Viewer,
  days: Days,
  ranking: Ranking,
  few: boolean,
  limit: number,
  maxRanked = MAX_RANKED,
): Promise<TopSession[]> =>
  // Row-level security would hide exactly those sessions that `isNamed` must find in order to exclude them.
  asOrganization(viewer.organizationId, () => rankSessions(db, viewer, days, ranking, few, limit, maxRanked));

interface TopSession {
  session_id: string;
  figure: number;
}

async function rankSessions(
  db: Db,
  viewer: Viewer,
  { planes, from, to }: Days,
  ranking: Ranking,
  few: boolean,
  limit: number,
  maxRanked: number,
): Promise<TopSession[]> {
  const [since, until] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T23:59:59.999Z`)];
  const isWithin = sql`started_at >= ${since} and started_at <= ${until}`;
  // The expression must equal that of the index.
  const figure = ranking === 'cost' ? sql`coalesce(cost, 0)` : sql.ref(ranking);
  const found = planes.map(async (plane) => {
    const mine = (and: Sql) => sql<TopSession>`
      select session_id, started_at, ${figure} as figure from session_facts
      where organization_id = ${viewer.organizationId} and plane = ${plane}
        and ${isNamed(viewer, 'session_facts.session_id')} ${and}`;
    const latest = (and: Sql) => mine(sql`and ${isWithin} ${and} order by started_at desc`);
    if (ranking === 'started_at')
      return allRows(db, sql<TopSession>`${latest(sql`and interrupted = 1`)} limit ${limit}`);
    const among = (ranked: Sql) =>
      allRows(
        db,
        sql<TopSession>`
          select session_id, figure from (${ranked}) as ranked
          where figure > 0 and ${isWithin} order by figure desc limit ${limit}`,
      );
    if (!few) {
      const most = mine(sql`and ${figure} > 0 order by ${figure} desc, session_id desc`);
      const first = await among(sql`${most} limit ${maxRanked}`);
      const isAll =
        first.length === limit || (await allRows(db, sql`${most} limit 1 offset ${maxRanked}`)).length === 0;
      if (isAll) return first;
    }
    return among(sql`${latest(NONE)} limit ${MAX_COMPARED}`);
  });
  const rows = (await Promise.all(found)).flat();
  return rows.sort((one, other) => other.figure - one.figure).slice(0, limit);
}

type Latest = Pick<SessionFactsRow, 'session_id' | 'last_event_at' | 'lag_ms'> &
  Pick<SessionRow, 'environment_id' | 'status' | 'created_at' | 'ended_at'>;

/** Finds the sessions with the latest events, among those that the viewer may know of, latest first. */
export async function findLatest(db: Db, viewer: Viewer, { planes }: Days, limit: number): Promise<Latest[]> {
  const found = planes.map((plane) =>
    allRows(
      db,
      sql<Latest>`
        select facts.session_id, facts.last_event_at, facts.lag_ms, sessions.environment_id, sessions.status,
          sessions.created_at, sessions.ended_at
        from session_facts as facts join sessions on sessions.session_id = facts.session_id
        where facts.organization_id = ${viewer.organizationId} and facts.plane = ${plane}
          and facts.last_event_at is not null and ${named(viewer)}
        order by facts.last_event_at desc limit ${limit}`,
    ),
  );
  const rows = (await Promise.all(found)).flat();
  return rows.sort((one, other) => Number(other.last_event_at) - Number(one.last_event_at)).slice(0, limit);
}
