import { type RawBuilder, sql } from 'kysely';
import type { Database, Db } from './schema.ts';

/** Runs a statement and returns all its rows. */
export const allRows = async <Row>(db: Db, statement: RawBuilder<Row>): Promise<Row[]> =>
  (await statement.execute(db)).rows;

/** Runs a statement and returns its first row; undefined when it has none. */
export const firstRow = async <Row>(db: Db, statement: RawBuilder<Row>): Promise<Row | undefined> =>
  (await statement.execute(db)).rows[0];

/**
 * Runs a statement that always has a row, and returns it.
 * @throws when it has none
 */
export async function oneRow<Row>(db: Db, statement: RawBuilder<Row>): Promise<Row> {
  const row = await firstRow(db, statement);
  if (row === undefined) throw new Error('a statement that must return a row returned none');
  return row;
}

/** Runs a statement and returns how many rows it inserted, updated or deleted. */
export const changedRows = async (db: Db, statement: RawBuilder<unknown>): Promise<number> =>
  Number((await statement.execute(db)).numAffectedRows ?? 0);

/** Tables whose rows are listed as a whole, by the column of their ids. */
const LISTED = {
  environments: 'environment_id',
  installations: 'installation_id',
  members: 'user_id',
} as const satisfies Partial<Record<keyof Database, string>>;

export type ListedTable = keyof typeof LISTED;

/** Reads rows of an organization by their ids; in their order, without those that are gone. */
export async function readListed<Table extends ListedTable>(
  db: Db,
  table: Table,
  organizationId: string,
  ids: readonly string[],
): Promise<Database[Table][]> {
  const key = LISTED[table];
  const rows = await allRows(
    db,
    sql<Record<string, unknown>>`
      select * from ${sql.table(table)}
      where organization_id = ${organizationId} and ${sql.ref(key)} in (${sql.join([...ids])})`,
  );
  const byId = new Map(rows.map((row) => [row[key], row]));
  return ids.flatMap((id) => (byId.get(id) as Database[Table] | undefined) ?? []);
}
