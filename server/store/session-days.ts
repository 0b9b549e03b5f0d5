import { type CompiledQuery, sql } from 'kysely';
import { rowsOfTexts } from './dialect.ts';
import type { Db, SessionDayRow, SessionRow } from './schema.ts';

/** A row of one day of a session, without the columns that all its rows share. */
export type SessionDay = Omit<SessionDayRow, 'session_id' | 'organization_id' | 'plane'>;

/** Each row has 20 parameters, and SQLite takes 32,766. */
const ROWS_AT_ONCE = 500;

/**
 * Replaces all rows of the session, and marks the sums of its days as outdated. For the end of a transaction, because
 * sessions of the same day wait here for each other; the days are sorted, so that they cannot deadlock.
 */
export function replaceSessionDays(
  db: Db,
  { session_id, organization_id, plane }: Pick<SessionRow, 'session_id' | 'organization_id' | 'plane'>,
  rows: readonly SessionDay[],
): CompiledQuery[] {
  const added = [...new Set(rows.map(({ day }) => day))];
  // SQLite takes `on conflict` behind a condition only.
  const marked = sql`
    insert into summed_days (organization_id, plane, day, changes, summed)
    select ${organization_id}, ${plane}, day, 1, 0
    from (
      select day from session_days where session_id = ${session_id} and organization_id = ${organization_id}
      union select id from (${rowsOfTexts(db, added)}) as added
    ) as changed
    where true order by day
    on conflict (organization_id, plane, day) do update set changes = summed_days.changes + 1`;
  const removed = db
    .deleteFrom('session_days')
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id);
  const inserted = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE).map((row) => ({ session_id, organization_id, plane, ...row }));
    inserted.push(db.insertInto('session_days').values(some).compile());
  }
  return [marked.compile(db), removed.compile(), ...inserted];
}

/** Last in the transaction, because sessions of the same day wait here for each other; sorted, so that they cannot deadlock. */
export async function noteChanged(
  transaction: Db,
  { organization_id, plane }: Pick<SessionRow, 'organization_id' | 'plane'>,
  days: ReadonlySet<string>,
): Promise<void> {
  if (days.size === 0) return;
  await transaction
    .insertInto('summed_days')
    .values([...days].sort().map((day) => ({ organization_id, plane, day, changes: 1, summed: 0 })))
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'plane', 'day'])
        .doUpdateSet({ changes: sql<number>`${sql.ref('summed_days.changes')} + 1` }),
    )
    .execute();
}

/** The tokens of each model of some sessions, to compute their cost. */
export const readModelTokens = (db: Db, sessionIds: readonly string[]) =>
  db
    .selectFrom('session_days')
    .select(['session_id', 'organization_id', 'plane', 'day', 'name'])
    .select(['input_tokens', 'cached_tokens', 'cache_write_tokens', 'output_tokens', 'unpriced_tokens', 'cost'])
    .where('session_id', 'in', [...sessionIds])
    .where('kind', '=', 'model')
    .execute();

export type ModelTokens = Awaited<ReturnType<typeof readModelTokens>>[number];
