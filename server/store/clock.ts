import { sql } from 'kysely';
import { changedRows, firstRow, oneRow } from './rows.ts';
import type { Db } from './schema.ts';

const SETTING = 'clock';

/** The newest time at which a service that trusted its clock used this store, in epoch milliseconds. */
export async function readStoreTime(db: Db): Promise<number | undefined> {
  const row = await firstRow(db, sql<{ value: string }>`select value from settings where name = ${SETTING}`);
  return row && Number(row.value);
}

/** Sets the time of a store that has none: the time of its newest session, or `now` if it has no session. */
export async function beginStoreTime(db: Db, now: number): Promise<void> {
  const { newest } = await oneRow(
    db,
    sql<{ newest: number | string | null }>`select max(updated_at) as newest from sessions`,
  );
  await sql`
    insert into settings (name, value) values (${SETTING}, ${String(newest ?? now)})
    on conflict (name) do nothing`.execute(db);
}

/** @returns false if another process has changed the time meanwhile */
export const moveStoreTime = async (db: Db, from: number, to: number): Promise<boolean> =>
  (await changedRows(
    db,
    sql`update settings set value = ${String(to)} where name = ${SETTING} and value = ${String(from)}`,
  )) > 0;
