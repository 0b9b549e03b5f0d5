import { sql } from 'kysely';
import type { Db } from './open.ts';
import type { SessionDayRow, SessionRow } from './schema.ts';

/** A row of one day of a session, without the columns that all its rows share. */
export type SessionDay = Omit<SessionDayRow, 'session_id' | 'organization_id' | 'plane'>;

/** Each row has 20 parameters, and SQLite takes 32,766. */
const ROWS_AT_ONCE = 500;

/** Replaces all rows of the session, and marks the sums of its days as outdated. In a transaction. */
export async function replaceSessionDays(
  transaction: Db,
  session: Pick<SessionRow, 'session_id' | 'organization_id' | 'plane'>,
  rows: readonly SessionDay[],
): Promise<void> {
  const { session_id, organization_id, plane } = session;
  const removed = await transaction
    .deleteFrom('session_days')
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id)
    .returning('day')
    .execute();
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await transaction
      .insertInto('session_days')
      .values(rows.slice(from, from + ROWS_AT_ONCE).map((row) => ({ session_id, organization_id, plane, ...row })))
      .execute();
  }
  await noteChanged(transaction, session, new Set([...removed, ...rows].map(({ day }) => day)));
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
