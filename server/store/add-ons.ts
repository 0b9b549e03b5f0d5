import { type CompiledQuery, sql } from 'kysely';
import type { AddOnKind } from '../../contract/entry/add-on.ts';
import type { Db, SessionAddOnRow, SessionRow } from './schema.ts';
import type { Days } from './summed-days.ts';

/** A row of one day of a session, without the columns that all its rows share. */
export type SessionAddOn = Omit<SessionAddOnRow, 'session_id' | 'organization_id' | 'plane'>;

/** Each row has 18 parameters, and SQLite takes 32,766. */
const ROWS_AT_ONCE = 500;

/** Replaces all rows of the session, in a transaction. */
export function replaceAddOns(
  db: Db,
  { session_id, organization_id, plane }: Pick<SessionRow, 'session_id' | 'organization_id' | 'plane'>,
  rows: readonly SessionAddOn[],
): CompiledQuery[] {
  const removed = db
    .deleteFrom('session_add_ons')
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id);
  const inserted = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE).map((row) => ({ session_id, organization_id, plane, ...row }));
    inserted.push(db.insertInto('session_add_ons').values(some).compile());
  }
  return [removed.compile(), ...inserted];
}

export interface AddOnFilter extends Days {
  kind?: AddOnKind | undefined;
}

const inDays = (db: Db, { organizationId, planes, from, to, kind }: AddOnFilter) =>
  db
    .selectFrom('session_add_ons')
    .where('organization_id', '=', organizationId)
    .where('plane', 'in', [...planes])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind as AddOnKind));

/** PostgreSQL would return the sum of integers as text. */
const sum = (column: keyof SessionAddOnRow) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;
/** A session has several rows of an add-on: one a day, and one for each model. */
const sessionsWith = (condition: 'calls' | 'is_listed') =>
  sql<number>`cast(count(distinct case when ${sql.ref(condition)} > 0 then session_id end) as bigint)`;

/** The add-ons that are called most; those that are only listed come last. */
export const findAddOns = (db: Db, filter: AddOnFilter, limit: number) =>
  inDays(db, filter)
    .select(['kind', 'name'])
    .select([sum('calls').as('calls'), sum('failures').as('failures')])
    .select([sessionsWith('calls').as('sessions'), sessionsWith('is_listed').as('listed')])
    .select(sql<number>`count(distinct case when calls > 0 then person end)`.as('people'))
    .select(sql<number>`max(last_used_at)`.as('last_used_at'))
    .groupBy(['kind', 'name'])
    .orderBy(sum('calls'), 'desc')
    .orderBy('kind')
    .orderBy('name')
    .limit(limit)
    .execute();

/** Who or which agents call the add-ons of these names, the most frequent first. */
export const readCallersOf = (
  db: Db,
  filter: AddOnFilter,
  names: readonly string[],
  column: 'person' | 'agent_id',
  limit: number,
) =>
  inDays(db, filter)
    .select(['kind', 'name', sql<string>`${sql.ref(column)}`.as('caller')])
    .where('name', 'in', [...names])
    .where('calls', '>', 0)
    .where(column, 'is not', null)
    .groupBy(['kind', 'name', column])
    .orderBy(sum('calls'), 'desc')
    .orderBy(column)
    .limit(limit)
    .execute();

/** The tokens of sub-agents by day and model, since prices change with both. */
export const readTokensOf = (db: Db, filter: AddOnFilter, names: readonly string[], limit: number) =>
  inDays(db, filter)
    .select(['name', 'day', 'model'])
    .select([sum('input_tokens').as('input'), sum('cached_tokens').as('cached')])
    .select([sum('cache_write_tokens').as('cacheWrite'), sum('output_tokens').as('output')])
    .where('kind', '=', 'subagent')
    .where('name', 'in', [...names])
    .where(sql<boolean>`input_tokens + output_tokens > 0`)
    .groupBy(['name', 'day', 'model'])
    .limit(limit)
    .execute();
