import { CompiledQuery, type DatabaseConnection, type RawBuilder, sql } from 'kysely';
import { PRIMARY_KEYS } from './schema.gen.ts';
import type { Database, Db, NewRow } from './schema.ts';

/** A statement, or a part of one. */
export type Sql<Row = unknown> = RawBuilder<Row>;

/** Replaces an optional part that a statement does not have. */
export const NONE: Sql = sql``;

/** A statement from a text that code without the query layer uses, too. The text has a `?` for each value. */
export function fromText<Row>(text: string, ...values: unknown[]): Sql<Row> {
  const parts = text.split('?');
  return sql<Row>(Object.assign(parts, { raw: parts }), ...values);
}

/** Runs a statement and returns all its rows. */
export const allRows = async <Row>(db: Db, statement: Sql<Row>): Promise<Row[]> => (await statement.execute(db)).rows;

/** Runs a statement and returns its first row; undefined if there is none. */
export const firstRow = async <Row>(db: Db, statement: Sql<Row>): Promise<Row | undefined> =>
  (await statement.execute(db)).rows[0];

/**
 * Runs a statement that always returns a row.
 * @throws if it returns none
 */
export async function oneRow<Row>(db: Db, statement: Sql<Row>): Promise<Row> {
  const row = await firstRow(db, statement);
  if (row === undefined) throw new Error('a statement that must return a row returned none');
  return row;
}

/** Runs a statement and returns how many rows it inserted, updated or deleted. */
export const changedRows = async (db: Db, statement: Sql): Promise<number> =>
  Number((await statement.execute(db)).numAffectedRows ?? 0);

/** Runs statements one after the other. */
export async function runAll(db: Db, statements: readonly Sql[]): Promise<void> {
  for (const statement of statements) await statement.execute(db);
}

/** The tables with rows that lists show completely. */
export type ListedTable = 'environments' | 'installations' | 'members';

/** Reads rows of an organization by their ids, in the given order, without missing ones. */
export async function readListed<Table extends ListedTable>(
  db: Db,
  table: Table,
  organizationId: string,
  ids: readonly string[],
): Promise<Database[Table][]> {
  const [key] = PRIMARY_KEYS[table];
  const rows = await allRows(
    db,
    sql<Record<string, unknown>>`
      select * from ${sql.table(table)}
      where organization_id = ${organizationId} and ${sql.ref(key)} in (${sql.join([...ids])})`,
  );
  const byId = new Map(rows.map((row) => [row[key], row]));
  return ids.flatMap((id) => (byId.get(id) as Database[Table] | undefined) ?? []);
}

/** Inserts the columns of an object as a row. @param rest the end of the statement, such as `on conflict` and `returning` */
export const insertion = <Table extends keyof Database>(
  table: Table,
  row: NewRow<Table>,
  rest: Sql = NONE,
): Sql<Database[Table]> => insertionOf(table, [row], rest) as Sql<Database[Table]>;

/** SQLite accepts 32,766 parameters, and PostgreSQL twice as many. Fewer keep a statement short, because others wait for it. */
const MAX_PARAMETERS = 10_000;

/** Inserts rows with the same columns, split into several statements. */
export function insertions<Table extends keyof Database>(
  table: Table,
  rows: readonly NewRow<Table>[],
  rest: Sql = NONE,
): Sql[] {
  const width = Object.keys(rows[0] ?? {}).length;
  const size = Math.max(1, Math.floor(MAX_PARAMETERS / width));
  const statements: Sql[] = [];
  for (let at = 0; at < rows.length; at += size) statements.push(insertionOf(table, rows.slice(at, at + size), rest));
  return statements;
}

function insertionOf(table: string, rows: readonly object[], rest: Sql): Sql {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => {
    const given = row as Record<string, unknown>;
    return sql`(${sql.join(columns.map((column) => given[column]))})`;
  });
  return sql`
    insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)} ${rest}`;
}

/** A connection that takes a whole transaction as one message. */
export interface AtOnceConnection extends DatabaseConnection {
  runAtOnce(statements: readonly CompiledQuery[]): Promise<boolean>;
}

/**
 * Writes derived rows in one transaction. SQLite's thread receives it as one message, and PostgreSQL needs three round trips. The
 * commit is not synced, because a crash undoes all of it, and the rows can be derived again. The next synced commit makes it
 * durable, too.
 * @returns false, without writing, if the first statement changed no row
 */
export function runAtOnce(db: Db, statements: readonly Sql[]): Promise<boolean> {
  const compiled = statements.map((statement) => statement.compile(db));
  return db.getExecutor().provideConnection((connection) => {
    return 'runAtOnce' in connection
      ? (connection as AtOnceConnection).runAtOnce(compiled)
      : runPipelined(connection, compiled);
  });
}

const BEGIN = CompiledQuery.raw('begin; set local synchronous_commit = off');
const COMMIT = CompiledQuery.raw('commit');
const ROLLBACK = CompiledQuery.raw('rollback');

async function runPipelined(
  connection: DatabaseConnection,
  [first, ...rest]: readonly CompiledQuery[],
): Promise<boolean> {
  if (!first) return false;
  const run = (statement: CompiledQuery) => connection.executeQuery(statement);
  await run(BEGIN);
  try {
    const { numAffectedRows } = await run(first);
    if (numAffectedRows === 0n) {
      await run(ROLLBACK);
      return false;
    }
    // The statements are sent without waiting. If one fails, the later ones do nothing, and the commit rolls back.
    const sent = [...rest, COMMIT].map(run);
    await Promise.allSettled(sent);
    await Promise.all(sent);
    return true;
  } catch (error) {
    await run(ROLLBACK).catch(() => undefined);
    throw error;
  }
}
