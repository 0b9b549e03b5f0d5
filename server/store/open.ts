import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, type PostgresPool, sql } from 'kysely';
import type pg from 'pg';
import type { Journal } from '../log/journal.ts';
import { diskFull, type Engine, isDiskFull, isStoreLost, isUnavailable, storeUnavailable } from './dialect.ts';
import { migrate } from './migrate.ts';
import { createNotices, type Notices } from './notices.ts';
import {
  limitedPool,
  openPostgres,
  type Patience,
  postgresDialect,
  SCHEMA_SETTINGS,
  StoreUnsuitable,
} from './postgres.ts';
import { createPostgresJournal } from './postgres-journal.ts';
import type { Db, Tables } from './schema.ts';
import { DiskSpace, type DiskSpaceOptions } from './sqlite/disk-space.ts';
import { sqliteDialect } from './sqlite/driver.ts';
import { emptyLog } from './sqlite/log-truncation.ts';
import { openFile, openFileToRead } from './sqlite/open-file.ts';
import { assertOwner, findTenant, poolOfTenants } from './tenant.ts';

export interface Store {
  engine: Engine;
  db: Db;
  /** The connections for reads that may take long, and how many such reads may run at the same time. */
  longReads: { db: Db; atOnce: number };
  /** The journal, for a store that numbers events itself. */
  journal: Journal;
  pool?: pg.Pool;
  /** PostgreSQL only: whether row-level security keeps organizations apart. */
  hasRowSecurity?: boolean;
  /** PostgreSQL only: messages between the processes that share the store. */
  notices?: Notices;
  /** Gives back memory that is not needed now. */
  rest?(): Promise<void>;
  /** @throws if the store cannot answer */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** PostgreSQL address; absent: SQLite in `dataDir`. */
  databaseUrl?: string | undefined;
  /** Address of the same PostgreSQL without a pooler; absent: `databaseUrl`. */
  listenUrl?: string | undefined;
  dataDir: string;
  /** How long a request waits for PostgreSQL. */
  patience?: Patience | undefined;
  /** Called for errors of idle connections. */
  onError: (error: Error) => void;
  /** Keeps space on the disk for work other than appends, and says when the disk is full; absent: no space is kept. */
  space?: DiskSpaceOptions | undefined;
  /** Called when the file can no longer be trusted, because it is corrupt or could not be synced. The process must end. */
  onLost?: ((error: Error) => void) | undefined;
}

/** Opens the store and brings its schema up to date. */
export async function openStore(options: StoreOptions): Promise<Store> {
  try {
    if (options.databaseUrl === undefined) return await sqliteStore(options);
    await migratePostgres(options.listenUrl ?? options.databaseUrl, options.onError);
    return await postgresStore(options, options.databaseUrl);
  } catch (error) {
    throw storeUnusable(error, options);
  }
}

/**
 * Opens a store for reading while a service may be using it.
 * @param isSnapshot whether the embedded store stays as it is at the first read
 * @throws if there is no store, or row-level security would hide its rows
 */
export async function openStoreToRead(
  { databaseUrl, dataDir, onError }: StoreOptions,
  isSnapshot = false,
): Promise<Kysely<Tables>> {
  if (databaseUrl !== undefined) {
    const db = new Kysely<Tables>({ dialect: postgresDialect(openPostgres(databaseUrl, onError)) });
    await assertOwner(db).catch(async (error) => {
      await db.destroy();
      throw error;
    });
    return db;
  }
  return new Kysely<Tables>({ dialect: sqliteDialect(openFileToRead(fileIn(dataDir), isSnapshot)) });
}

/**
 * Reads a consistent snapshot of a store while a service may be using it.
 * @throws if there is no store, or row-level security would hide its rows
 */
export async function readSnapshot<Result>(options: StoreOptions, read: (db: Db) => Promise<Result>): Promise<Result> {
  const db = await openStoreToRead(options, true);
  try {
    if (options.databaseUrl === undefined) return await read(db);
    return await db.transaction().setIsolationLevel('repeatable read').execute(read);
  } finally {
    await db.destroy();
  }
}

/**
 * Changes a store in one short transaction while a service may be using it.
 * @throws if there is no store, or row-level security would hide its rows
 */
export async function changeStore<Result>(
  options: StoreOptions,
  work: (transaction: Db) => Promise<Result>,
): Promise<Result> {
  const db = options.databaseUrl === undefined ? await openFileToChange(options) : await openStoreToRead(options);
  try {
    return await db.transaction().execute(work);
  } finally {
    await db.destroy();
  }
}

/** How long a command waits for readers of the store, such as a backup, before it leaves SQLite's log as it is. */
const LOG_PATIENCE_MS = 10_000;

/**
 * Removes from SQLite's log the rows that `changeStore` has removed, because a service that uses the store does not know of them.
 * @returns false if a reader needs the log for longer than the patience
 */
export async function forgetChanges(options: StoreOptions, patienceMs = LOG_PATIENCE_MS): Promise<boolean> {
  if (options.databaseUrl !== undefined) return true;
  const db = await openFileToChange(options);
  return emptyLog(db, patienceMs).finally(() => db.destroy());
}

/** Opens the file next to the service. SQLite lets several processes write, one after the other. */
async function openFileToChange({ dataDir, onError }: StoreOptions): Promise<Kysely<Tables>> {
  return new Kysely<Tables>({ dialect: sqliteDialect(await openFile(fileIn(dataDir), onError)) });
}

/** @throws if the folder has no store */
function fileIn(dataDir: string): string {
  const path = join(dataDir, 'session-capture.sqlite');
  if (!existsSync(path)) throw new Error(`The folder ${dataDir} holds no store. Name its folder in DATA_DIR`);
  return path;
}

/** Uses its own connections, which may wait for hours, and no pooler, which would limit them. */
async function migratePostgres(url: string, onError: (error: Error) => void): Promise<void> {
  const pool = openPostgres(url, onError, { patience: { silentMs: 0 }, settings: SCHEMA_SETTINGS });
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool) });
  try {
    await assertOwner(db);
    await migrate(db, 'postgres');
  } finally {
    await db.destroy();
  }
}

async function sqliteStore({ dataDir, onLost, space: kept }: StoreOptions): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Even the lock takes space.
  const space = kept && new DiskSpace(dataDir, kept);
  let unlock: (() => void) | undefined;
  try {
    unlock = lockFolder(dataDir);
    const file = await openFile(join(dataDir, 'session-capture.sqlite'), (error) => {
      if (isDiskFull(error)) space?.noteFull();
      if (isStoreLost(error)) onLost?.(error);
    });
    const db = new Kysely<Tables>({ dialect: sqliteDialect(file) });
    try {
      await migrate(db, 'sqlite');
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return {
      engine: 'sqlite',
      db,
      longReads: { db: new Kysely<Tables>({ dialect: sqliteDialect(file.longReads) }), atOnce: LONG_READS.sqlite },
      journal: space ? keepingSpace(file.journal, space) : file.journal,
      rest: file.rest,
      async ping() {
        // A reader may answer although the disk accepts no write.
        if (file.writer.lag() > MAX_LAG_MS) throw storeUnavailable('the writer does not answer');
        await ping(db);
      },
      async close() {
        space?.close();
        await db.destroy();
        unlock?.();
      },
    };
  } catch (error) {
    space?.close();
    unlock?.();
    throw error;
  }
}

/** Refuses appends while the disk is full, so that the rest of the space is for deletions. */
const keepingSpace = (journal: Journal, space: DiskSpace): Journal => ({
  change: (change) =>
    space.isFull && change.command.kind === 'append'
      ? Promise.reject(diskFull('the rest of the space is kept'))
      : journal.change(change),
});

async function postgresStore({ listenUrl, patience, onError }: StoreOptions, url: string): Promise<Store> {
  const pool = openPostgres(url, onError, { patience });
  const tenant = await findTenant(pool).catch(async (error) => {
    await pool.end();
    throw error;
  });
  const connections: PostgresPool = tenant === undefined ? pool : poolOfTenants(pool, tenant);
  const db = new Kysely<Tables>({ dialect: postgresDialect(connections) });
  const longDb = new Kysely<Tables>({ dialect: postgresDialect(limitedPool(connections, LONG_READS.postgres)) });
  return {
    engine: 'postgres',
    db,
    longReads: { db: longDb, atOnce: LONG_READS.postgres },
    journal: createPostgresJournal(pool, patience),
    pool,
    hasRowSecurity: tenant !== undefined,
    notices: createNotices(pool, listenUrl ?? url),
    ping: () => ping(db),
    async close() {
      await db.destroy();
      // Kysely does not end a pool that it has never used.
      if (!pool.ending) await pool.end();
    },
  };
}

/**
 * How many long reads run at the same time. On SQLite they share one of the two readers: one long read waits for the reader
 * while the other searches its events. On PostgreSQL they share 8 of the 20 connections.
 */
const LONG_READS = { sqlite: 2, postgres: 8 };

/** How long the writer may make no progress before the store counts as down. The largest commit takes 0.1 s. */
const MAX_LAG_MS = 5_000;

async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}

/**
 * Locks the data folder for this process until the returned function is called or the process ends. The system releases
 * SQLite's exclusive file lock with the process, so no lock is left behind.
 * @throws Error if another process has the folder
 */
function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'lock.sqlite'));
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isDiskFull(error)) {
      throw new Error(`the disk of ${folder} is full; free some megabytes, then start the service again`, {
        cause: error,
      });
    }
    throw new Error(
      `another process already uses the data folder ${folder}; stop it, or set DATA_DIR to another folder`,
      {
        cause: error,
      },
    );
  }
  return () => lock.close();
}

const REMEDIES: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there: start PostgreSQL, or correct DATABASE_URL',
  ENOTFOUND: 'no host has this name: correct DATABASE_URL',
  ETIMEDOUT: 'it does not answer: check the network, or correct DATABASE_URL',
  '28P01': 'it rejects the password in DATABASE_URL',
  '28000': 'it rejects the user in DATABASE_URL',
  '3D000': 'it has no database of this name: create it, or correct DATABASE_URL',
  '57P03': 'it is starting up or shutting down: try again in a moment',
};

/** SQLSTATE classes for a refused sign-in and for a missing database. */
const MISCONFIGURED = /^(28|3D)/;

/** Whether `openStore` failed because PostgreSQL does not answer now, and may succeed later with the same configuration. */
export function isUnreachable(error: unknown): boolean {
  const { cause = error } = error as Error;
  if (cause instanceof StoreUnsuitable || MISCONFIGURED.test(String((cause as { code?: unknown }).code))) return false;
  return isUnavailable(cause);
}

/** Turns an error of opening the store into a sentence with its remedy. Returns any other error unchanged. */
function storeUnusable(error: unknown, { databaseUrl, dataDir }: StoreOptions): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (databaseUrl !== undefined) {
    const remedy = REMEDIES[code ?? ''];
    if (remedy === undefined) return error;
    const { hostname, port, pathname } = new URL(databaseUrl);
    return new Error(`PostgreSQL at ${hostname}:${port || 5432}${pathname}: ${remedy}`, { cause: error });
  }
  if (syscall === undefined) return error;
  const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is a file' : message;
  return new Error(`The folder ${dataDir} cannot be used: ${reason}. Name another in DATA_DIR`, { cause: error });
}
