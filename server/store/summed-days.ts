import { sql } from 'kysely';
import type { Plane } from '../../contract/secret.ts';
import type { Db } from './open.ts';
import type { SessionDayRow, SummedDayRow, UsageDayRow } from './schema.ts';

type Dimension = UsageDayRow['dimension'];

/** Which rows of sessions are added up for each dimension, and the column that holds its values. */
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

/** The sum of a figure as a number. PostgreSQL would answer the sum of integers as text. */
export const sumOf = (name: (typeof FIGURES)[number]) =>
  sql<number>`cast(sum(${sql.ref(name)}) as ${sql.raw(name === 'cost' ? 'double precision' : 'bigint')})`;

/**
 * Values of a dimension that have sums of their own on a day: the largest. Events name tools and models, so there may be
 * any number. The others are in the total alone.
 */
const MOST_VALUES = 2_000;

export type Day = Pick<SummedDayRow, 'organization_id' | 'plane' | 'day'>;

/** A day whose sums are behind; `changes` is what they hold once they are made. */
export type DayBehind = Day & Pick<SummedDayRow, 'changes'>;

/** Days of an organization. */
export interface Days {
  organizationId: string;
  planes: readonly Plane[];
  /** YYYY-MM-DD, both included. */
  from: string;
  to: string;
}

/** Days whose sums are behind, the latest first: those of an organization, or some of all organizations. */
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
 * Makes the sums of a day from the rows of its sessions. They are read outside the transaction that writes: on SQLite
 * that leaves the writer to appends.
 * @param from where the rows are read: the reads of a day may be long
 * @returns false where another process has made sums of later changes; then nothing was written
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
    // Without a group there is a row also where there are no sessions.
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
