import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Store } from './open.ts';
import { allRows, insertions, NONE, runAll } from './rows.ts';
import type { Db, NewRow } from './schema.ts';
import { keyOf, MOVED, type MovedTable } from './tables.ts';

export type MovedRow = Record<string, unknown>;

export interface MoveOptions {
  from: Store;
  to: Store;
  /** Called for each table after it was copied, and after it was compared; the move waits for it. */
  onTable: (table: MovedTable, rows: number, phase: 'copied' | 'compared') => void | Promise<void>;
}

/** Thrown if the target is not empty, or differs from the source after the copy. */
export class MoveRefused extends Error {
  override name = 'MoveRefused';
}

/**
 * Copies a store into an empty one, then compares the number and the content of the rows of each table. Neither store may
 * be in use.
 * @throws MoveRefused if the target is not empty (then nothing was written), or differs after the copy
 */
export async function moveStore({ from, to, onTable }: MoveOptions): Promise<void> {
  for (const table of MOVED) if (await hasRows(to, table)) throw notEmpty(table);
  const given = new Map<MovedTable, Digest>();
  for (const table of MOVED) {
    const digest = await copy(from, to, table);
    given.set(table, digest);
    await onTable(table, digest.rows, 'copied');
  }
  for (const table of MOVED) {
    const found = await digestOf(to, table);
    if (!found.equals(given.get(table))) throw notTheSame(table);
    await onTable(table, found.rows, 'compared');
  }
}

const notEmpty = (table: MovedTable) =>
  new MoveRefused(
    `The PostgreSQL database is not empty: ${table} has rows. Move into a database on which no service was started.`,
  );

const notTheSame = (table: MovedTable) =>
  new MoveRefused(`The rows of ${table} differ between the stores. Start again with an empty database.`);

/** A digest of rows, independent of their order, because the engines sort texts differently. */
class Digest {
  rows = 0;
  readonly #sum = Buffer.alloc(32);

  add(row: MovedRow): void {
    this.rows++;
    const values = Object.keys(row)
      .sort()
      .map((name) => [name, row[name] instanceof Uint8Array ? Buffer.from(row[name]).toString('base64') : row[name]]);
    const hash = createHash('sha256').update(JSON.stringify(values)).digest();
    for (const [index, byte] of hash.entries()) this.#sum[index] = (this.#sum[index] ?? 0) ^ byte;
  }

  equals(other: Digest | undefined): boolean {
    return other !== undefined && this.rows === other.rows && this.#sum.equals(other.#sum);
  }
}

async function copy(from: Store, to: Store, table: MovedTable): Promise<Digest> {
  const digest = new Digest();
  for await (const rows of pagesOf(from.db, table)) {
    await insertRows(to.db, table, rows);
    for (const row of rows) digest.add(row);
  }
  return digest;
}

async function digestOf(store: Store, table: MovedTable): Promise<Digest> {
  const digest = new Digest();
  for await (const rows of pagesOf(store.db, table)) for (const row of rows) digest.add(row);
  return digest;
}

async function hasRows({ db }: Store, table: MovedTable): Promise<boolean> {
  return (await sql`select 1 from ${sql.table(table)} limit 1`.execute(db)).rows.length > 0;
}

const ROWS_OF_PAGE = 500;
/** How many bytes a page may have. A single row of `appends` may have 12.5 MiB. */
const BYTES_OF_PAGE = 16 * 1024 * 1024;

/** Reads all rows of the table, or those that match the condition, in pages along the key. */
export async function* pagesOf(
  db: Db,
  table: MovedTable,
  fitting: RawBuilder<unknown> = sql`true`,
): AsyncGenerator<MovedRow[]> {
  let last: MovedRow | undefined;
  do {
    const page = { db, table, fitting, last };
    const limit = table === 'appends' ? await appendsOfPage(page) : ROWS_OF_PAGE;
    const rows = await readPage(page, '*', limit);
    if (rows.length > 0) yield rows;
    last = rows.at(-1);
  } while (last !== undefined);
}

interface Page {
  db: Db;
  table: MovedTable;
  fitting: RawBuilder<unknown>;
  last: MovedRow | undefined;
}

/** How many appends after the last one fit into a page, but at least one. */
async function appendsOfPage(page: Page): Promise<number> {
  const sizes = await readPage(page, 'octet_length(body) as bytes', ROWS_OF_PAGE);
  let bytes = 0;
  const tooMany = sizes.findIndex((row) => {
    bytes += Number(row.bytes);
    return bytes > BYTES_OF_PAGE;
  });
  return tooMany < 0 ? ROWS_OF_PAGE : Math.max(1, tooMany);
}

async function readPage({ db, table, fitting, last }: Page, columns: string, limit: number): Promise<MovedRow[]> {
  const key = sql.join(keyOf(table).map((column) => sql.ref(column)));
  const behind = last ? sql`(${key}) > (${sql.join(keyOf(table).map((column) => last[column]))})` : sql`true`;
  return allRows(
    db,
    sql<MovedRow>`
      select ${sql.raw(columns)} from ${sql.table(table)} where ${fitting} and ${behind} order by ${key} limit ${limit}`,
  );
}

/** @param repeated whether existing rows are left unchanged */
export const insertRows = (db: Db, table: MovedTable, rows: readonly MovedRow[], repeated = false): Promise<void> => {
  const typed = rows as unknown as readonly NewRow<MovedTable>[];
  return runAll(db, insertions(table, typed, repeated ? sql`on conflict do nothing` : NONE));
};
