import { type RawBuilder, sql } from 'kysely';
import type { Engine } from './dialect.ts';
import type { Store } from './open.ts';
import type { Database } from './schema.ts';

/**
 * The tables that are moved, in an order that keeps their references, each with its key. What counts requests is not:
 * it is forgotten within a minute. Nor what is derived: it is made again.
 */
const TABLES = {
  settings: ['name'],
  users: ['user_id'],
  organizations: ['organization_id'],
  members: ['user_id'],
  secrets: ['secret_id'],
  environments: ['environment_id'],
  installations: ['installation_id'],
  sessions: ['session_id'],
  deleted_sessions: ['session_id'],
  appends: ['session_id', 'first_sequence'],
  device_sign_ins: ['device_hash'],
  accounts: ['account_id'],
  links: ['token_hash'],
  provider_records: ['record_id'],
} satisfies Partial<Record<keyof Database, readonly string[]>>;

/** Those that are left behind. A table is in one of the two lists. */
export const LEFT_BEHIND = [
  'session_facts',
  'session_values',
  'session_chunks',
  'figures',
] satisfies (keyof Database)[];

type Table = keyof typeof TABLES;
export const MOVED = Object.keys(TABLES) as Table[];

type Row = Record<string, unknown>;

export interface MoveOptions {
  from: Store;
  to: Store;
  /** Told of each table once it is there, and once it was compared. */
  onTable: (table: Table, rows: number, phase: 'copied' | 'compared') => void;
}

/** The store that was to be filled holds something else, or not what it was given. */
export class MoveRefused extends Error {
  override name = 'MoveRefused';
}

const ROWS_AT_ONCE = 500;
/** Appends have up to 12.5 MiB each. */
const BYTES_AT_ONCE = 16 * 1024 * 1024;

/**
 * Copies all that one store holds into another, then compares every row of both. Begun again it goes on where it stopped:
 * rows are copied in the order of their keys. Neither store may be in use meanwhile.
 * @throws MoveRefused when the other store holds what the first does not; nothing was written then
 */
export async function moveStore({ from, to, onTable }: MoveOptions): Promise<void> {
  for (const table of MOVED) await assertPartOf(from, to, table);
  for (const table of MOVED) onTable(table, await copy(from, to, table), 'copied');
  for (const table of MOVED) onTable(table, await compare(from, to, table), 'compared');
}

/** So that neither a service that has begun anew there is mixed into another's data, nor secrets lose their key. */
async function assertPartOf(from: Store, to: Store, table: Table): Promise<void> {
  for (const row of [await edge(to, table, 'asc'), await edge(to, table, 'desc')]) {
    if (row === undefined) continue;
    const known = await find(from, table, row);
    if (known === undefined || !isEqual(known, row)) throw refused(table);
  }
}

const refused = (table: Table) =>
  new MoveRefused(
    `The PostgreSQL holds something else already (in ${table}). Move into an empty database: one that no service was started on.`,
  );

async function copy(from: Store, to: Store, table: Table): Promise<number> {
  let copied = 0;
  const last = await edge(to, table, 'desc');
  for await (const rows of readRows(from, table, last)) {
    await insert(to, table, rows);
    copied += rows.length;
  }
  return copied;
}

/** @throws MoveRefused naming the first row that differs */
async function compare(from: Store, to: Store, table: Table): Promise<number> {
  const [left, right] = [each(readRows(from, table)), each(readRows(to, table))];
  for (let rows = 0; ; rows++) {
    const [given, there] = [(await left.next()).value, (await right.next()).value];
    if (given === undefined && there === undefined) return rows;
    if (given !== undefined && there !== undefined && isEqual(given, there)) continue;
    const key = TABLES[table].map((column) => String((given ?? there)?.[column])).join(' ');
    throw new MoveRefused(`Row ${key} of ${table} is not the same in both. Begin anew with an empty database.`);
  }
}

async function* each(pages: AsyncIterable<Row[]>): AsyncGenerator<Row, undefined> {
  for await (const rows of pages) yield* rows;
  return undefined;
}

/** All rows behind `last` in the order of their keys, a bounded number at a time. */
async function* readRows(store: Store, table: Table, last?: Row): AsyncGenerator<Row[]> {
  for (let behind = last; ; ) {
    const limit = table === 'appends' ? await fitting(store, behind) : ROWS_AT_ONCE;
    const rows = await select(store, sql`select *`, table, behind, limit);
    if (rows.length === 0) return;
    yield rows;
    behind = rows.at(-1);
  }
}

/** How many appends behind the last one fit into memory: one at least. */
async function fitting(store: Store, behind: Row | undefined): Promise<number> {
  const sizes = await select(store, sql`select octet_length(body) as bytes`, 'appends', behind, ROWS_AT_ONCE);
  let bytes = 0;
  const most = sizes.findIndex((row) => {
    bytes += Number(row.bytes);
    return bytes > BYTES_AT_ONCE;
  });
  return most < 0 ? ROWS_AT_ONCE : Math.max(1, most);
}

async function select(store: Store, what: RawBuilder<unknown>, table: Table, behind: Row | undefined, limit: number) {
  const columns = TABLES[table];
  const keys = sql.join(columns.map((column) => inOrder(store.engine, column)));
  const after =
    behind === undefined ? sql`` : sql`where (${keys}) > (${sql.join(columns.map((column) => behind[column]))})`;
  const { rows } = await sql<Row>`
    ${what} from ${sql.table(table)} ${after} order by ${keys} limit ${limit}`.execute(store.db);
  return rows;
}

/** Texts by their bytes, as SQLite does, whatever the language of the database. */
const inOrder = (engine: Engine, column: string) =>
  engine === 'postgres' && column !== 'first_sequence' ? sql`${sql.ref(column)} collate "C"` : sql.ref(column);

async function edge(store: Store, table: Table, direction: 'asc' | 'desc'): Promise<Row | undefined> {
  const keys = sql.join(TABLES[table].map((column) => sql`${inOrder(store.engine, column)} ${sql.raw(direction)}`));
  const { rows } = await sql<Row>`select * from ${sql.table(table)} order by ${keys} limit 1`.execute(store.db);
  return rows[0];
}

async function find(store: Store, table: Table, row: Row): Promise<Row | undefined> {
  const isIt = TABLES[table].map((column) => sql`${sql.ref(column)} = ${row[column]}`);
  const { rows } = await sql<Row>`
    select * from ${sql.table(table)} where ${sql.join(isIt, sql` and `)}`.execute(store.db);
  return rows[0];
}

async function insert(store: Store, table: Table, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const width = Math.max(1, Math.floor(MOST_PARAMETERS / columns.length));
  for (let at = 0; at < rows.length; at += width) {
    const values = rows.slice(at, at + width).map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
    await sql`
      insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      values ${sql.join(values)}`.execute(store.db);
  }
}

/** PostgreSQL counts them in 16 bits. */
const MOST_PARAMETERS = 30_000;

function isEqual(one: Row, other: Row): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => isSame(one[name], other[name]));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  return one === other;
}
