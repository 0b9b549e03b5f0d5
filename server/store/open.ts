import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import type pg from 'pg';
import { type Engine, openPostgres, openSqlite, postgresDialect, sqliteDialect } from './dialect.ts';
import { lockFolder } from './lock.ts';
import { migrate } from './migrate.ts';
import type { Database } from './schema.ts';

export type Db = Kysely<Database>;

export interface Store {
  engine: Engine;
  db: Db;
  /** The embedded engine's own connection, for group commit. */
  sqlite?: DatabaseSync;
  pool?: pg.Pool;
  /** Answers when a row can be read; throws otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** PostgreSQL address; absent: SQLite in `dataDir`. */
  databaseUrl?: string | undefined;
  dataDir: string;
  /** Told of errors of idle connections. */
  onError: (error: Error) => void;
}

/** Opens the store and brings its schema up to date. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const store = options.databaseUrl
    ? postgresStore(options.databaseUrl, options.onError)
    : sqliteStore(options.dataDir);
  try {
    await migrate(store.db, store.engine);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

function sqliteStore(dataDir: string): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(dataDir);
  const sqlite = openSqlite(join(dataDir, 'session-capture.sqlite'));
  const db = new Kysely<Database>({ dialect: sqliteDialect(sqlite) });
  return {
    engine: 'sqlite',
    db,
    sqlite,
    ping: () => ping(db),
    async close() {
      await db.destroy();
      unlock();
    },
  };
}

function postgresStore(url: string, onError: (error: Error) => void): Store {
  const pool = openPostgres(url, onError);
  const db = new Kysely<Database>({ dialect: postgresDialect(pool) });
  return { engine: 'postgres', db, pool, ping: () => ping(db), close: () => db.destroy() };
}

async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
