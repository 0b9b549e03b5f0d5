import { sql } from 'kysely';
import type { Plane } from '../../contract/secret.ts';
import type { Db, SessionDayRow, SummedDayRow, UsageDayRow } from './schema.ts';

type Dimension = UsageDayRow['dimension'];

/** For each dimension the rows that are added up, and the column with its values. */
const SOURCES: Record<Dimension, [kind: SessionDayRow['kind'], value: keyof SessionDayRow | undefined]> = {
  total: ['session', undefined],
  agent: ['session', 'agent_id'],
  environment: ['session', 'environment_id'],
  repository: ['session', 'repository'],
  person: ['session', 'person'],
  model: ['model', 'name'],
  tool: ['tool', 'name'],
  hour: ['hour', 'name'],
};
const DIMENSIONS = Object.keys(SOURCES) as Dimension[];

export const FIGURES = [
  'sessions',
  'prompts',
  'tool_calls',
  'failures',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'unpriced_tokens',
  'cost',
] as const;

/** The sum of a figure as a number; PostgreSQL would return the sum of integers as text. */
export const sumOf = (name: (typeof FIGURES)[number]) =>
  sql<number>`cast(sum(${sql.ref(name)}) as ${sql.raw(name === 'cost' ? 'double precision' : 'bigint')})`;

/**
 * The most values of a dimension with their own sums on a day, the largest ones; the total includes all. Events name tools
 * and models, so there may be any number of them.
 */
const MOST_VALUES = 2_000;

export type Day = Pick<SummedDayRow, 'organization_id' | 'plane' | 'day'>;

/** A day with outdated sums; `changes` is the count that new sums will cover. */
export type DayBehind = Day & Pick<SummedDayRow, 'changes'>;

/** Days of an organization. */
export interface Days {
  organizationId: string;
  planes: readonly Plane[];
  /** YYYY-MM-DD, both included. */
  from: string;
  to: string;
}

/** Days with outdated sums, the latest first: of one organization, or some days of all organizations. */
export const listDaysBehind = (db: Db, days: Days | undefined, limit: number): Promise<DayBehind[]> =>
  db
    .selectFrom('summed_days')
    .select(['organization_id', 'plane', 'day', 'changes'])
    .where(sql<boolean>`summed < changes`)
    .$if(days !== undefined, (query) => {
      const { organizationId, planes, from, to } = days as Days;
      return query
        .where('organization_id', '=', organizationId)
        .where('plane', 'in', [...planes])
        .where('day', '>=', from)
        .where('day', '<=', to);
    })
    .orderBy('day', 'desc')
    .limit(limit)
    .execute();

/**
 * Adds up the rows of a day. It reads them before the transaction, which leaves the writer of SQLite to appends.
 * @param from the connections for the reads, which may be long
 * @returns false, without writing, if another process has summed later changes
 */
export async function sumDay(db: Db, { changes, ...day }: DayBehind, from: Db = db): Promise<boolean> {
  const rows: UsageDayRow[] = [];
  for (const dimension of DIMENSIONS) rows.push(...(await readSums(from, day, dimension)));
  return db.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await ofDay(transaction.updateTable('summed_days').set({ summed: changes }), day)
      .where('summed', '<', changes)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await ofDay(transaction.deleteFrom('usage_days'), day).where('dimension', 'in', DIMENSIONS).execute();
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      await transaction
        .insertInto('usage_days')
        .values(rows.slice(at, at + ROWS_AT_ONCE))
        .execute();
    }
    return true;
  });
}

/** Each row has 15 parameters, and SQLite takes 32,766. */
const ROWS_AT_ONCE = 1_000;

interface ByDay<Self> {
  where(column: keyof Day, operator: '=', value: string): Self;
}

const ofDay = <Query extends ByDay<Query>>(query: Query, { organization_id, plane, day }: Day): Query =>
  query.where('organization_id', '=', organization_id).where('plane', '=', plane).where('day', '=', day);

async function readSums(db: Db, day: Day, dimension: Dimension): Promise<UsageDayRow[]> {
  const [kind, column] = SOURCES[dimension];
  const value = column === undefined ? sql<string>`''` : sql.ref<string>(column);
  const rows = await db
    .selectFrom('session_days')
    .select([value.as('value'), ...FIGURES.map((name) => sumOf(name).as(name))])
    .where('organization_id', '=', day.organization_id)
    .where('plane', '=', day.plane)
    .where('day', '=', day.day)
    .where('kind', '=', kind)
    .$if(column !== undefined, (query) => query.where(value, 'is not', null).where(value, '!=', '').groupBy(value))
    // Without `group by` there would be a row even without sessions.
    .having(sql`count(*)`, '>', 0)
    .orderBy(sumOf('sessions'), 'desc')
    .orderBy(sumOf('tool_calls'), 'desc')
    .orderBy(sumOf('output_tokens'), 'desc')
    .orderBy('value')
    .limit(MOST_VALUES)
    .execute();
  const week = weekOf(day.day);
  return rows.map((row) => ({ ...(row as unknown as Sums), ...day, dimension, week }));
}

type Sums = Pick<UsageDayRow, 'value' | (typeof FIGURES)[number]>;

const DAY_MS = 86_400_000;

/** The Monday on or before the day. */
export function weekOf(day: string): string {
  const time = Date.parse(day);
  const sinceMonday = (new Date(time).getUTCDay() + 6) % 7;
  return new Date(time - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}
