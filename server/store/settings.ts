import { sql } from 'kysely';
import { changedRows, firstRow } from './rows.ts';
import type { Db, SettingRow } from './schema.ts';

/**
 * Reads a setting, and creates it with `make` the first time. Replicas that start at the same time agree on one value.
 */
export async function rememberSetting(db: Db, name: string, make: () => string): Promise<string> {
  const read = () => firstRow(db, sql<Pick<SettingRow, 'value'>>`select value from settings where name = ${name}`);
  const known = await read();
  if (known) return known.value;
  await sql`insert into settings (name, value) values (${name}, ${make()}) on conflict (name) do nothing`.execute(db);
  return (await read())?.value ?? make();
}

export async function writeSetting(db: Db, name: string, value: string): Promise<void> {
  await sql`update settings set value = ${value} where name = ${name}`.execute(db);
}

/** @returns false if the setting has another value than `before` */
export const replaceSetting = async (db: Db, name: string, before: string, value: string): Promise<boolean> =>
  (await changedRows(db, sql`update settings set value = ${value} where name = ${name} and value = ${before}`)) === 1;

export const hasSetting = async (db: Db, name: string): Promise<boolean> =>
  (await firstRow(db, sql`select 1 from settings where name = ${name}`)) !== undefined;
