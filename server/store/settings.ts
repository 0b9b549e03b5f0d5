import type { Db } from './schema.ts';

/**
 * Reads a setting, and creates it with `make` the first time. Replicas that start together agree on one value.
 */
export async function rememberSetting(db: Db, name: string, make: () => string): Promise<string> {
  const read = () => db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  const known = await read();
  if (known) return known.value;
  await db
    .insertInto('settings')
    .values({ name, value: make() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await read())?.value ?? make();
}

export async function writeSetting(db: Db, name: string, value: string): Promise<void> {
  await db.updateTable('settings').set({ value }).where('name', '=', name).execute();
}
