import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../server/store/open.ts';

/**
 * Copies a session's row of a table inside the store.
 * @param changed expressions for the columns that differ in the n-th copy; `n` counts from 1
 */
export async function copyRow(
  store: Store,
  table: 'sessions' | 'session_facts',
  sessionId: string,
  count: number,
  changed: Record<string, RawBuilder<unknown>>,
): Promise<void> {
  const [template] = await store.db.selectFrom(table).selectAll().where('session_id', '=', sessionId).execute();
  const columns = Object.keys(template ?? {});
  const values = columns.map((column) => changed[column] ?? sql.ref(column));
  const numbers =
    store.engine === 'postgres'
      ? sql`SELECT generate_series(1, ${sql.lit(count)}) AS n`
      : sql`SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(count)}`;
  const insert = sql`
    WITH RECURSIVE numbers AS (${numbers})
    INSERT INTO ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    SELECT ${sql.join(values)} FROM ${sql.table(table)} CROSS JOIN numbers WHERE session_id = ${sql.lit(sessionId)}
  `;
  await store.db.transaction().execute(async (transaction) => {
    if (store.engine === 'postgres') await sql`SET LOCAL statement_timeout = 0`.execute(transaction);
    await insert.execute(transaction);
  });
}
