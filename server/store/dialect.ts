import { PostgresAdapter, PostgresDialect, type SelectQueryBuilder } from 'kysely';
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

/** Keeps the selected rows as they are until the transaction ends; the embedded engine has one writer at a time anyway. */
export const forShare = <Database, Tables extends keyof Database, Output>(
  db: { getExecutor(): { adapter: unknown } },
  query: SelectQueryBuilder<Database, Tables, Output>,
): SelectQueryBuilder<Database, Tables, Output> =>
  db.getExecutor().adapter instanceof PostgresAdapter ? query.forShare() : query;

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

/** SQLITE_CORRUPT, SQLITE_NOTADB; and in full SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC. */
const SQLITE_LOST = new Set([11, 26]);
const SQLITE_UNSYNCED = new Set([10 | (4 << 8), 10 | (5 << 8)]);

/**
 * Whether the file can no longer be trusted. After a failed fsync nobody knows what is on the disk, and asking again would
 * be told a success (https://www.postgresql.org/docs/current/runtime-config-error-handling.html, `data_sync_retry`).
 */
export function isStoreLost(error: unknown): boolean {
  const errcode = Number((error as { errcode?: number }).errcode ?? 0);
  return SQLITE_LOST.has(errcode & 0xff) || SQLITE_UNSYNCED.has(errcode);
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
