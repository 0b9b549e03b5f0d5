import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { inject } from 'vitest';
import { TEMPLATE } from '../../test/postgres.ts';
import type { Bus } from '../bus/bus.ts';
import { type ConnectOptions, connectBus } from '../bus/connect.ts';
import type { Engine } from '../store/dialect.ts';
import { openStore, type Store } from '../store/open.ts';

/** A store, or PostgreSQL behind an event bus. */
export type TestEngine = Engine | 'bus';

const { ENGINE } = process.env;

/** Every store and route test runs on each of these; `ENGINE=sqlite` narrows the list during development. */
export const ENGINES: readonly Engine[] = ENGINE ? [ENGINE as Engine] : ['sqlite', 'postgres'];

/** Tests of the session log run on each of these. */
export const LOGS: readonly TestEngine[] = ENGINE || !inject('natsUrl') ? ENGINES : [...ENGINES, 'bus'];

export interface TestStore extends Store {
  dataDir: string;
  databaseUrl: string | undefined;
  bus: Bus | undefined;
  busUrl: string | undefined;
  /** Closes the store and removes its data. */
  dispose(): Promise<void>;
}

/** A fresh, empty store for one test. */
export async function openTestStore(engine: TestEngine): Promise<TestStore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'capture-test-'));
  const busUrl = engine === 'bus' ? inject('natsUrl') : undefined;
  return attach(dataDir, engine === 'sqlite' ? undefined : await createDatabase(), busUrl);
}

/** The same store as a restarted service finds it. */
export async function reopen(store: TestStore): Promise<TestStore> {
  await store.close();
  return attach(store.dataDir, store.databaseUrl, store.busUrl);
}

/** A new store with the data of this one, which must be closed. */
export async function copyStore({ dataDir, databaseUrl }: TestStore): Promise<TestStore> {
  const copy = mkdtempSync(join(tmpdir(), 'capture-test-'));
  if (databaseUrl !== undefined) return attach(copy, await createDatabase(nameOf(databaseUrl)));
  cpSync(dataDir, copy, { recursive: true });
  return attach(copy, undefined);
}

/** Opens the same store a second time, as another replica does. */
export const again = ({ dataDir, databaseUrl, busUrl }: TestStore) => attach(dataDir, databaseUrl, busUrl);

/** Opens a store that already exists, as another replica or a later process does. */
export async function attach(
  dataDir: string,
  databaseUrl: string | undefined,
  busUrl?: string,
  log: ConnectOptions['log'] = SILENT,
): Promise<TestStore> {
  const store = await openStore({ dataDir, databaseUrl, onError: () => undefined });
  const bus = busUrl === undefined ? undefined : await connectBus({ url: busUrl, db: store.db, log });
  return {
    ...store,
    bus,
    busUrl,
    dataDir,
    databaseUrl,
    async close() {
      await bus?.close();
      await store.close();
    },
    async dispose() {
      await bus?.remove().catch(() => undefined);
      // The test may already have closed or broken the store.
      await store.close().catch(() => undefined);
      rmSync(dataDir, { recursive: true, force: true });
      if (databaseUrl)
        await administer((client) => client.query(`DROP DATABASE "${nameOf(databaseUrl)}" WITH (FORCE)`));
    },
  };
}

/** Removes all tables, so that the store is like new. */
export async function emptyStore({ db }: Pick<Store, 'db'>, engine: Engine): Promise<void> {
  if (engine === 'postgres') {
    await sql`drop schema public cascade`.execute(db);
    await sql`create schema public`.execute(db);
    return;
  }
  await sql`pragma foreign_keys = off`.execute(db);
  for (const { name } of await db.introspection.getTables({ withInternalKyselyTables: true })) {
    await sql`drop table if exists ${sql.table(name)}`.execute(db);
  }
  await sql`pragma foreign_keys = on`.execute(db);
}

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function createDatabase(template = TEMPLATE): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer((client) => client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`));
  return `${inject('postgresUrl')}/${name}`;
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);

async function administer(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: `${inject('postgresUrl')}/postgres` });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
