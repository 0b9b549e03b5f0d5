import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, type PostgresPool, sql } from 'kysely';
import type pg from 'pg';
import type { Journal } from '../log/journal.ts';
import { type Engine, isStoreLost, storeUnavailable } from './dialect.ts';
import { lockFolder } from './lock.ts';
import { migrate } from './migrate.ts';
import { createNotices, type Notices } from './notices.ts';
import { limitedPool, openPostgres, postgresDialect, SCHEMA_SETTINGS } from './postgres.ts';
import { createPostgresJournal } from './postgres-journal.ts';
import type { Database } from './schema.ts';
import { sqliteDialect } from './sqlite/driver.ts';
import { openFile } from './sqlite/open-file.ts';
import { assertOwner, findTenant, poolOfTenants } from './tenant.ts';
import { storeUnusable } from './unusable.ts';

export type Db = Kysely<Database>;

export interface Store {
  engine: Engine;
  db: Db;
  /** For reads that may take long: a part of the connections, and how many such reads they are for at the same time. */
  longReads: { db: Db; atOnce: number };
  /** Where it numbers events itself. */
  journal: Journal;
  pool?: pg.Pool;
  /** PostgreSQL only: whether row-level security keeps organizations apart. */
  isWalled?: boolean;
  /** PostgreSQL only: messages between the processes that share the store. */
  notices?: Notices;
  /** Answers when a row can be read; throws otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** PostgreSQL address; absent: SQLite in `dataDir`. */
  databaseUrl?: string | undefined;
  /** Address of the same PostgreSQL without a pooler; absent: `databaseUrl`. */
  listenUrl?: string | undefined;
  dataDir: string;
  /** Milliseconds that PostgreSQL may leave a statement without an answer; absent: 20 s. */
  silentMs?: number | undefined;
  /** Told of errors of idle connections. */
  onError: (error: Error) => void;
  /** Told when the file can no longer be trusted: it is corrupt, or could not be synced. The process must end. */
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

/** Over connections of its own, which may wait for hours, and past any pooler, which would bound them. */
async function migratePostgres(url: string, onError: (error: Error) => void): Promise<void> {
  const pool = openPostgres(url, onError, { silentMs: 0, settings: SCHEMA_SETTINGS });
  const db = new Kysely<Database>({ dialect: postgresDialect(pool) });
  try {
    await assertOwner(db);
    await migrate(db, 'postgres');
  } finally {
    await db.destroy();
  }
}

async function sqliteStore({ dataDir, onLost }: StoreOptions): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(dataDir);
  try {
    const file = await openFile(join(dataDir, 'session-capture.sqlite'), (error) => {
      if (isStoreLost(error)) onLost?.(error);
    });
    const db = new Kysely<Database>({ dialect: sqliteDialect(file) });
    try {
      await migrate(db, 'sqlite');
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return {
      engine: 'sqlite',
      db,
      longReads: { db: new Kysely<Database>({ dialect: sqliteDialect(file.longReads) }), atOnce: LONG_READS.sqlite },
      journal: file.journal,
      async ping() {
        // A reader may answer while the disk takes no write.
        if (file.writer.lag() > LONGEST_LAG_MS) throw storeUnavailable('the writer does not answer');
        await ping(db);
      },
      async close() {
        await db.destroy();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function postgresStore({ listenUrl, silentMs, onError }: StoreOptions, url: string): Promise<Store> {
  const pool = openPostgres(url, onError, { silentMs });
  const tenant = await findTenant(pool).catch(async (error) => {
    await pool.end();
    throw error;
  });
  const connections: PostgresPool = tenant === undefined ? pool : poolOfTenants(pool, tenant);
  const db = new Kysely<Database>({ dialect: postgresDialect(connections) });
  const longDb = new Kysely<Database>({ dialect: postgresDialect(limitedPool(connections, LONG_READS.postgres)) });
  return {
    engine: 'postgres',
    db,
    longReads: { db: longDb, atOnce: LONG_READS.postgres },
    journal: createPostgresJournal(pool, db),
    pool,
    isWalled: tenant !== undefined,
    notices: createNotices(pool, listenUrl ?? url),
    ping: () => ping(db),
    async close() {
      await db.destroy();
      // Kysely ends no pool that it was never asked anything over.
      if (!pool.ending) await pool.end();
    },
  };
}

/**
 * Long reads at the same time. On SQLite they share one of the two readers: while one waits for it, the events of the other
 * are looked through. On PostgreSQL they have 8 of the 20 connections together.
 */
const LONG_READS = { sqlite: 2, postgres: 8 };

/** Longest time without progress of the writer before the store counts as down. The largest commit takes 0.1 s. */
const LONGEST_LAG_MS = 5_000;

async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
