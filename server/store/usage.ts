import { sql } from 'kysely';
import type { Plane } from '../../contract/secret.ts';
import { FIGURES, type FigureChange } from './figures.ts';
import type { Db } from './open.ts';

/** Whose sums of which days. */
export interface UsageFilter {
  organizationId: string;
  planes: readonly Plane[];
  /** YYYY-MM-DD, both included. */
  from: string;
  to: string;
  /** Whether each model has rows of its own; absent: they have. */
  byModel?: boolean;
  /** Rows of models that one question may lead to. */
  mostRows?: number;
}

/** Models are named by whoever sends events, in any number: there are more rows with them than one answer may read. */
export class TooManyModels extends Error {
  override name = 'TooManyModels';
}

/** Some 20 values with 6 models each, on every day of a year; so many rows are 50 MB. */
const MOST_ROWS = 50_000;

const inDays = (db: Db, { organizationId, planes, from, to }: UsageFilter, dimension: string) =>
  db
    .selectFrom('figures')
    .where('organization_id', '=', organizationId)
    .where('plane', 'in', [...planes])
    .where('dimension', '=', dimension)
    .where('day', '>=', from)
    .where('day', '<=', to);

/** PostgreSQL would make a numeric of it, which comes as text. */
const total = (name: string) => sql<number>`cast(sum(${sql.ref(name)}) as bigint)`;

/**
 * The sums of a dimension by day, value and model; of some values alone, or of all.
 * @throws TooManyModels
 */
export async function readFigures(
  db: Db,
  filter: UsageFilter,
  dimension: string,
  values?: readonly string[],
): Promise<Omit<FigureChange, 'dimension'>[]> {
  const { byModel = true, mostRows = MOST_ROWS } = filter;
  const rows = await inDays(db, filter, dimension)
    .$if(values !== undefined, (query) => query.where('value', 'in', [...(values ?? [])]))
    .select(['day', 'value', byModel ? 'model' : sql<string>`''`.as('model')])
    .select(FIGURES.map((name) => total(name).as(name)))
    .groupBy(byModel ? ['day', 'value', 'model'] : ['day', 'value'])
    .orderBy('day')
    .$if(byModel, (query) => query.limit(mostRows + 1))
    .execute();
  if (byModel && rows.length > mostRows) throw new TooManyModels();
  return rows as Omit<FigureChange, 'dimension'>[];
}

/** The largest values of a dimension: by sessions, then by tokens. */
export async function findLargest(db: Db, filter: UsageFilter, dimension: string, limit: number): Promise<string[]> {
  const rows = await inDays(db, filter, dimension)
    .select('value')
    .where('value', '!=', '')
    .groupBy('value')
    .orderBy(total('sessions'), 'desc')
    .orderBy(sql`sum(input_tokens + output_tokens)`, 'desc')
    .orderBy('value')
    .limit(limit)
    .execute();
  return rows.map(({ value }) => value);
}

/** Tools by how often they were called. */
export const readTools = (db: Db, filter: UsageFilter, limit: number) =>
  inDays(db, filter, 'tool')
    .select(['value', total('tool_calls').as('calls'), total('failures').as('failed')])
    .groupBy('value')
    .orderBy(total('tool_calls'), 'desc')
    .orderBy('value')
    .limit(limit)
    .execute();

/** By which column a session is conspicuous. */
export type Order = 'failures' | 'duration_ms' | 'cost' | 'started_at';

/** Rows among those that have most of something of all times, that are looked at first. */
const LOOKED_AT = 2_000;
/** Rows of the days that are compared; with a limit, their order decides which index is read. */
const MOST_COMPARED = 1_000_000;

/**
 * Sessions that began within the days, those first that have most of something, or that were interrupted last. Where many
 * began, they are most likely among the first of all times; else those of the days are all compared.
 * @param few whether at most some thousand began
 */
export async function findConspicuous(
  db: Db,
  { organizationId, planes, from, to }: UsageFilter,
  order: Order,
  few: boolean,
  limit: number,
  lookedAt = LOOKED_AT,
): Promise<{ session_id: string; figure: number }[]> {
  const [since, until] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${to}T23:59:59.999Z`)];
  // As it is indexed.
  const figure = order === 'cost' ? sql<number>`coalesce(cost, 0)` : sql.ref<number>(order);
  const found = planes.map(async (plane) => {
    const mine = db
      .selectFrom('session_facts')
      .select(['session_id', 'started_at', figure.as('figure')])
      .where('organization_id', '=', organizationId)
      .where('plane', '=', plane);
    const inDays = mine.where('started_at', '>=', since).where('started_at', '<=', until).orderBy('started_at', 'desc');
    if (order === 'started_at') return inDays.where('interrupted', '=', sql.lit(1)).limit(limit).execute();
    const among = (looked: typeof mine) =>
      db
        .selectFrom(looked.as('looked_at'))
        .select(['session_id', 'figure'])
        .where('figure', '>', 0)
        .where('started_at', '>=', since)
        .where('started_at', '<=', until)
        .orderBy('figure', 'desc')
        .limit(limit)
        .execute();
    if (!few) {
      const most = mine.where(figure, '>', 0).orderBy(figure, 'desc').orderBy('session_id', 'desc');
      const first = await among(most.limit(lookedAt));
      const isAll = first.length === limit || (await most.offset(lookedAt).limit(1).execute()).length === 0;
      if (isAll) return first;
    }
    return among(inDays.limit(MOST_COMPARED));
  });
  const rows = (await Promise.all(found)).flat();
  return rows.sort((one, other) => other.figure - one.figure).slice(0, limit);
}

/** Sessions of which something was heard last, the latest first. */
export async function findLatest(db: Db, { organizationId, planes }: UsageFilter, limit: number) {
  const found = planes.map((plane) =>
    db
      .selectFrom('session_facts as facts')
      .innerJoin('sessions', 'sessions.session_id', 'facts.session_id')
      .select(['facts.session_id', 'facts.last_event_at', 'facts.lag_ms', 'sessions.environment_id', 'sessions.status'])
      .select(['sessions.created_at', 'sessions.ended_at'])
      .where('facts.organization_id', '=', organizationId)
      .where('facts.plane', '=', plane)
      .where('facts.last_event_at', 'is not', null)
      .orderBy('facts.last_event_at', 'desc')
      .limit(limit)
      .execute(),
  );
  const rows = (await Promise.all(found)).flat();
  return rows.sort((one, other) => Number(other.last_event_at) - Number(one.last_event_at)).slice(0, limit);
}
