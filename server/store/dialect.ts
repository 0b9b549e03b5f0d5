import type { Kysely, SelectQueryBuilder } from 'kysely';
import pg from 'pg';
import { Problem } from '../../contract/problem.ts';
import { isPostgres, StoreUnsuitable } from './postgres.ts';
import { ThreadEnded } from './sqlite/threads.ts';

/*
 * How the engines differ where the same query serves both: locks and what their errors mean. How each is opened and
 * appended to is in `postgres.ts`, `postgres-append.ts` and `sqlite/`.
 */

export type Engine = 'sqlite' | 'postgres';

/** The text as both engines keep it: PostgreSQL takes no NUL, and half a character is another sign in UTF-8. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Keeps the selected rows as they are until the transaction ends; the embedded engine has one writer at a time anyway. */
export const forShare = <Database, Tables extends keyof Database, Output>(
  db: Kysely<Database>,
  query: SelectQueryBuilder<Database, Tables, Output>,
): SelectQueryBuilder<Database, Tables, Output> => (isPostgres(db) ? query.forShare() : query);

/**
 * SQLSTATE classes after which the store is worth asking again: connection, sign-in and database (which are changed while it
 * runs), resources, operator, lock, time-outs and a standby.
 */
const PASSING_STATES = /^(08|28|3D|53|57|58|40|55P03|25006|25P0[34])/;
const PASSING_CODES = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|ERR_STREAM_|ERR_SSL_)/;

/** What pg's client and pool say without a code where the connection is lost, or was before the query. */
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

/** Whether the error says "not now" rather than "never": to be answered 503. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  if (code === 'ERR_SQLITE_ERROR') return isSqliteUnavailable(error);
  // A request that comes while the store is closed: node:sqlite's word for it.
  if (code === 'ERR_INVALID_STATE' || error instanceof StoreUnsuitable) return true;
  // A sentence of the server has a code; one of the client itself has none.
  return code === '' ? LOST_CONNECTION.test(error.message) : isPassing(error, code);
}

const isPassing = (error: Error, code: string) =>
  (error instanceof pg.DatabaseError ? PASSING_STATES : PASSING_CODES).test(code);

/** Primary result codes BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const SQLITE_UNAVAILABLE = new Set([5, 6, 8, 10, 11, 13, 14, 26]);

function isSqliteUnavailable(error: Error): boolean {
  return SQLITE_UNAVAILABLE.has(Number((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** SQLITE_CORRUPT, SQLITE_NOTADB; and in full SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC. */
const SQLITE_LOST = new Set([11, 26]);
const SQLITE_UNSYNCED = new Set([10 | (4 << 8), 10 | (5 << 8)]);

/**
 * Whether the file, or the thread that writes it, can no longer be trusted. After a failed fsync nobody knows what is on
 * the disk, and asking again would be told a success (https://www.postgresql.org/docs/current/runtime-config-error-handling.html, `data_sync_retry`).
 */
export function isStoreLost(error: unknown): boolean {
  if (error instanceof ThreadEnded) return true;
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
