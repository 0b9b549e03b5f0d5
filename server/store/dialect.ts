import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { PostgresDialect, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import pg from 'pg';
import { Problem } from '../../contract/problem.ts';

/** The only file that knows how the two engines differ. */

export type Engine = 'sqlite' | 'postgres';

/** Column types that the engines name differently. */
export interface ColumnTypes {
  bytes: 'blob' | 'bytea';
}

export const COLUMN_TYPES: Record<Engine, ColumnTypes> = {
  sqlite: { bytes: 'blob' },
  postgres: { bytes: 'bytea' },
};

/** Acknowledged means fsynced: WAL with synchronous=FULL syncs the log at every commit. */
const PRAGMAS = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -65536;
`;

/** Opens the file, asserts its durability, and keeps any second process out of it. */
export function openSqlite(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(PRAGMAS);
  assertDurable(database);
  return database;
}

/** A fresh connection may report FULL and yet not hold it; only after a first write is the answer worth anything. */
export function assertDurable(database: DatabaseSync): void {
  database.exec('CREATE TABLE IF NOT EXISTS durability (started_at INTEGER NOT NULL) STRICT');
  database.exec(`DELETE FROM durability; INSERT INTO durability VALUES (${Date.now()})`);
  const journal = database.prepare('PRAGMA journal_mode').get()?.journal_mode;
  const synchronous = database.prepare('PRAGMA synchronous').get()?.synchronous;
  const inMemory = database.location() === null;
  if (synchronous !== 2 || (journal !== 'wal' && !inMemory)) {
    throw new Error(
      `the store is not durable: journal_mode=${journal}, synchronous=${synchronous}; expected wal and 2`,
    );
  }
}

export const sqliteDialect = (database: DatabaseSync) => new SqliteDialect({ database: adapt(database) });

/** Lets Kysely, which expects better-sqlite3's shape, use the built-in driver; statements are prepared once. */
function adapt(database: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known) return known;
      const made = adaptStatement(database.prepare(sql));
      if (statements.size >= 500) statements.clear();
      statements.set(sql, made);
      return made;
    },
  };
}

type SqliteValue = null | number | bigint | string | Uint8Array;

function adaptStatement(statement: StatementSync): SqliteStatement {
  const values = (parameters: readonly unknown[]) => parameters as SqliteValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  };
}

/** Counters and times stay below 2^53, so a bigint may come back as a number. */
const BIGINT_OID = 20;
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format as 'text');

export function openPostgres(url: string, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: 15_000,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 10_000,
    types: { getTypeParser },
  });
  pool.on('error', onError);
  // A backend that ends while its client is checked out emits on the client, not on the pool.
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}

export const postgresDialect = (pool: pg.Pool) => new PostgresDialect({ pool });

/** SQLSTATE classes after which the store is worth asking again: connection, resources, operator, lock and time-outs. */
const PASSING_STATES = /^(08|53|57|40001|40P01|55P03|25006|58)/;
const PASSING_CODES = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ERR_SQLITE_ERROR$)/;

/** Whether the error says "not now" rather than "never": to be answered 503. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  if (code === 'ERR_SQLITE_ERROR') return isSqliteUnavailable(error);
  // A request that comes while the store is closed: node:sqlite's and Kysely's words for it.
  if (code === 'ERR_INVALID_STATE' || /driver has already been destroyed/.test(error.message)) return true;
  if (error instanceof pg.DatabaseError) return PASSING_STATES.test(code);
  return (
    PASSING_CODES.test(code) || /timeout exceeded when trying to connect|Connection terminated/.test(error.message)
  );
}

/** Primary result codes BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const SQLITE_UNAVAILABLE = new Set([5, 6, 8, 10, 11, 13, 14, 26]);

function isSqliteUnavailable(error: Error): boolean {
  return SQLITE_UNAVAILABLE.has(Number((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** The unique constraint or its columns that the write ran into, as the engine names it; undefined for other errors. */
export function uniqueViolation(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code === '23505' ? (error.constraint ?? '') : undefined;
  const { errcode, message } = error as { errcode?: number; message?: string };
  // SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY
  return errcode === 2067 || errcode === 1555 ? String(message) : undefined;
}

/** The public face of a store that cannot answer. */
export const storeUnavailable = (cause: unknown) =>
  new Problem('service_unavailable', 'The store cannot answer right now. Try again with the same idempotency key.', {
    retryAfter: 1,
    cause,
  });
