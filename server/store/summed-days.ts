import { sql } from 'kysely';
import { NOBODY } from '../../contract/names.ts';
import type { Plane } from '../../contract/secret.ts';
import { allRows, changedRows, insertions, NONE, runAll, type Sql } from './rows.ts';
import type { Db, SessionDayRow, SummedDayRow, UsageDayRow } from './schema.ts';
import { PERSON } from './session-rows.ts';

type Dimension = UsageDayRow['dimension'];

/** For each dimension the rows that are summed, and the expression for its values. */
const SOURCES: Record<Dimension, [kind: SessionDayRow['kind'], value: Sql | undefined]> = {
  total: ['session', undefined],
  agent: ['session', sql`agent_id`],
  environment: ['session', sql`environment_id`],
  repository: ['session', sql`repository`],
  person: ['session', sql`coalesce(${PERSON}, ${NOBODY})`],
  model: ['model', sql`name`],
  tool: ['tool', sql`name`],
  hour: ['hour', sql`name`],
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

/** The sum of each figure, under its name, as a number. PostgreSQL would return the sum of integers as text. */
export const SUMS: Sql = sql.join(
  FIGURES.map((name) => {
    const type = sql.raw(name === 'cost' ? 'double precision' : 'bigint');
    return sql`cast(sum(${sql.ref(name)}) as ${type}) as ${sql.ref(name)}`;
  }),
);

/**
 * How many values of a dimension have their own sums on a day; the largest values do. The total includes all values. Clients
 * choose the names of tools and models, so their number is not limited.
 */
const MAX_VALUES = 2_000;

type Day = Pick<SummedDayRow, 'organization_id' | 'plane' | 'day'>;

/** A day with outdated sums. New sums will include all changes up to `changes`. */
type DayBehind = Day & Pick<SummedDayRow, 'changes'>;

const DAY_MS = 86_400_000;

/** Days of an organization. */
export interface Days {
  organizationId: string;
  planes: readonly Plane[];
  /** YYYY-MM-DD; both days are included. */
  from: string;
  to: string;
}

/** The number of the days. */
export const countDays = ({ from, to }: Pick<Days, 'from' | 'to'>): number =>
  (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

/** The condition for the requested days on a table with a row for each day. */
export const inDays = ({ organizationId, planes, from, to }: Days, day: Sql = sql`day`): Sql => sql`
  organization_id = ${organizationId} and plane in (${sql.join([...planes])}) and ${day} >= ${from} and ${day} <= ${to}`;

/** Lists days with outdated sums, latest first: of one organization, or of all organizations. */
export const listDaysBehind = (db: Db, days: Days | undefined, limit: number): Promise<DayBehind[]> =>
  allRows(
    db,
    sql<DayBehind>`
      select organization_id, plane, day, changes from summed_days
      where summed < changes ${days === undefined ? NONE : sql`and ${inDays(days)}`}
      order by day desc limit ${limit}`,
  );

/**
 * Sums the rows of a day. It reads them before the transaction, so that SQLite's writer can serve appends meanwhile.
 * @param from the connections for the reads, which may take long
 * @returns false, without writing, if another process has summed later changes
 */
export async function sumDay(db: Db, { changes, ...day }: DayBehind, from: Db = db): Promise<boolean> {
  const rows: UsageDayRow[] = [];
  for (const dimension of DIMENSIONS) rows.push(...(await readSums(from, day, dimension)));
  const ofDay = sql`organization_id = ${day.organization_id} and plane = ${day.plane} and day = ${day.day}`;
  return db.transaction().execute(async (transaction) => {
    const claimed = await changedRows(
      transaction,
      sql`update summed_days set summed = ${changes} where ${ofDay} and summed < ${changes}`,
    );
    if (claimed === 0) return false;
    // SQLite would read all days of the organization for the conditions alone, because it prefers the key to an index.
    const key = sql`organization_id, plane, dimension, value, day`;
    const removed = sql`
      delete from usage_days where (${key}) in (
        select ${key} from usage_days where ${ofDay} and dimension in (${sql.join(DIMENSIONS)}))`;
    await runAll(transaction, [removed, ...insertions('usage_days', rows)]);
    return true;
  });
}

async function readSums(db: Db, day: Day, dimension: Dimension): Promise<UsageDayRow[]> {
  const [kind, value] = SOURCES[dimension];
  const grouped = value === undefined ? NONE : sql`where value <> '' group by value`;
  const rows = await allRows(
    db,
    // Without `group by` there would be a row even without sessions.
    sql<Pick<UsageDayRow, 'value' | (typeof FIGURES)[number]>>`
      select ${value === undefined ? sql`''` : sql`value`} as value, ${SUMS}
      from (
        select ${value ?? sql`''`} as value, ${sql.join(FIGURES.map((name) => sql.ref(name)))} from session_days
        where organization_id = ${day.organization_id} and plane = ${day.plane} and day = ${day.day} and kind = ${kind}
      ) as shown ${grouped}
      having count(*) > 0
      order by sum(sessions) desc, sum(tool_calls) desc, sum(output_tokens) desc, value limit ${MAX_VALUES}`,
  );
  const week = weekOf(day.day);
  return rows.map((row) => ({ ...row, ...day, dimension, week }));
}

/** The Monday on or before the day. */
export function weekOf(day: string): string {
  const time = Date.parse(day);
  const sinceMonday = (new Date(time).getUTCDay() + 6) % 7;
  return new Date(time - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}
