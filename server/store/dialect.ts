import { sql } from 'kysely';
import pg from 'pg';
import { Problem } from '../../contract/problem.ts';
import { Damaged } from '../log/damaged.ts';
import { isPostgres, StoreUnsuitable } from './postgres.ts';
import { NONE, type Sql } from './rows.ts';
import type { Db } from './schema.ts';
import { ThreadEnded } from './sqlite/connection-thread.ts';

/* The differences between the engines in statements that both run, and in their errors. */

export type Engine = 'sqlite' | 'postgres';

/** Picks the value of the engine. */
export const ofEngine = <Value>(db: Db, values: Record<Engine, Value>): Value =>
  values[isPostgres(db) ? 'postgres' : 'sqlite'];

/**
 * A column for a condition by which SQLite must not look up rows. It keeps no statistics, so it reads all sessions of an
 * organization rather than five of them by their keys. No index has the sum that the plus makes of the column.
 */
export const unindexed = (db: Db, column: string): Sql =>
  ofEngine(db, { sqlite: sql`+${sql.ref(column)}`, postgres: sql.ref(column) });

/** Locks the selected rows against changes until the transaction ends. SQLite has only one writer, so it needs no lock. */
export const forShare = (db: Db) => ofEngine(db, { sqlite: NONE, postgres: sql`for share` });

/** Locks the selected rows against changes and other locks until the transaction ends. */
export const forUpdate = (db: Db) => ofEngine(db, { sqlite: NONE, postgres: sql`for update` });

/** Prevents the deletion of the selected rows until the transaction ends. Other changes are possible. */
export const forKeyShare = (db: Db) => ofEngine(db, { sqlite: NONE, postgres: sql`for key share` });

/** A row for each text, in the column `id`. It needs one parameter for any number of texts. */
export const rowsOfTexts = (db: Db, texts: readonly string[]) =>
  isPostgres(db)
    ? sql`select unnest(${[...texts]}::text[]) as id`
    : sql`select value as id from json_each(${JSON.stringify(texts)})`;

/** Whether the column has one of the texts. It needs one parameter for any number of texts. */
export const isOneOf = (db: Db, column: string, texts: readonly string[]) =>
  isPostgres(db)
    ? sql<boolean>`${sql.ref(column)} = any(${[...texts]}::text[])`
    : sql<boolean>`${sql.ref(column)} in (${rowsOfTexts(db, texts)})`;

/** The aggregate that collects values. SQLite has no arrays, so it returns JSON text. */
export const jsonArray = (db: Db) => ofEngine(db, { sqlite: sql`json_group_array`, postgres: sql`json_agg` });

/** Converts the result of `jsonArray` to an array. */
export const fromJsonArray = <Value>(made: Value[] | string): Value[] =>
  typeof made === 'string' ? JSON.parse(made) : made;

/**
 * SQLSTATE classes of temporary errors: connection, sign-in and database (an operator may be changing them), resources,
 * operator intervention, system errors, serialization, locks, time-outs and a standby.
 */
const PASSING_STATES = /^(08|28|3D|53|57|58|40|55P03|25006|25P0[34])/;
const PASSING_CODES = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ERR_STREAM_|ERR_SSL_)/;

/** Messages of pg's client and pool for a lost connection; these errors have no code. */
const LOST_CONNECTION = new RegExp(
  [
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Query read timeout',
    'is not queryable$',
    'Cannot use a pool after calling end on the pool',
    'There was an error establishing an SSL connection',
    'The server does not support SSL connections',
    'received invalid response',
    'Received unexpected \\w+ message from backend',
    'driver has already been destroyed',
  ].join('|'),
);

/** Whether the error is temporary, so that the response has status 503. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  if (code === 'ERR_SQLITE_ERROR') return isSqliteUnavailable(error);
  // The code of node:sqlite for a query after the store was closed.
  if (code === 'ERR_INVALID_STATE' || error instanceof StoreUnsuitable) return true;
  // Only errors of the server have a code.
  return code === '' ? LOST_CONNECTION.test(error.message) : isPassing(error, code);
}

const isPassing = (error: Error, code: string) =>
  (error instanceof pg.DatabaseError ? PASSING_STATES : PASSING_CODES).test(code);

/** Primary result codes BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const SQLITE_UNAVAILABLE = new Set([5, 6, 8, 10, 11, 13, 14, 26]);

function isSqliteUnavailable(error: Error): boolean {
  return SQLITE_UNAVAILABLE.has(Number((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** SQLITE_CORRUPT and SQLITE_NOTADB; below them the extended codes SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC. */
const SQLITE_LOST = new Set([11, 26]);
const SQLITE_UNSYNCED = new Set([10 | (4 << 8), 10 | (5 << 8)]);

/**
 * Whether the file, or the thread that writes it, can no longer be trusted. After a failed fsync nobody knows what is on the
 * disk, and a second fsync may succeed without writing it (`data_sync_retry` in the documentation of PostgreSQL).
 */
export function isStoreLost(error: unknown): boolean {
  if (error instanceof ThreadEnded) return true;
  const errcode = Number((error as { errcode?: number }).errcode ?? 0);
  return SQLITE_LOST.has(errcode & 0xff) || SQLITE_UNSYNCED.has(errcode);
}

/** data_corrupted and index_corrupted of PostgreSQL, but not io_error: a disk may answer again. Readers of the embedded store report `Damaged` themselves. */
const DAMAGED_STATES = new Set(['XX001', 'XX002']);

/** The damage that a read met; undefined for any other error. */
export function damageIn(error: unknown): Damaged | undefined {
  if (error instanceof Damaged) return error;
  const isDamage = error instanceof pg.DatabaseError && DAMAGED_STATES.has(error.code ?? '');
  return isDamage ? new Damaged('the store reports damage', { cause: error }) : undefined;
}

/** The unique constraint that a write violated, as the engine names it or its columns; undefined for other errors. */
export function uniqueViolation(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code === '23505' ? (error.constraint ?? '') : undefined;
  const { errcode, message } = error as { errcode?: number; message?: string };
  // SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY
  return errcode === 2067 || errcode === 1555 ? String(message) : undefined;
}

/** Whether a write failed for lack of space: SQLITE_FULL, or disk_full of PostgreSQL. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode = 0 } = error as { code?: unknown; errcode?: number };
  return (errcode & 0xff) === 13 || (error instanceof pg.DatabaseError && code === '53100');
}

/** The problem that a caller sees while the disk is full. */
export const diskFull = (cause: unknown) =>
  new Problem(
    'service_unavailable',
    'The disk of this service is full, so it accepts no events. Ask its operator to make room, or delete sessions. Then try again with the same idempotency key.',
    { retryAfter: 5, cause },
  );

/** The problem that a caller sees when the store cannot answer. */
export const storeUnavailable = (cause: unknown) => (isDiskFull(cause) ? diskFull(cause) : unanswered(cause));

const unanswered = (cause: unknown) =>
  new Problem('service_unavailable', 'The store cannot answer right now. Try again with the same idempotency key.', {
    retryAfter: 1,
    cause,
  });
