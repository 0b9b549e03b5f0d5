import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterEach, describe, expect, test } from 'vitest';
import { COLUMN_TYPES } from '../store/dialect.ts';
import { initial } from '../store/migrations/0001-initial.ts';
import type { Database } from '../store/schema.ts';
import { attach, ENGINES, openTestStore, type TestStore } from './engines.ts';

describe.each(ENGINES)('the schema on %s', (engine) => {
  const opened: TestStore[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0).reverse()) await store.dispose();
  });
  const keep = (store: TestStore) => {
    opened.push(store);
    return store;
  };

  /** The first version's schema, with a session in it. */
  async function openFirst(): Promise<TestStore> {
    const store = keep(await openTestStore(engine));
    await empty(store.db, engine);
    const provider = { getMigrations: async () => ({ '0001-initial': initial(COLUMN_TYPES[engine]) }) };
    const { error } = await new Migrator({ db: store.db, provider }).migrateToLatest();
    expect(error).toBeUndefined();
    await sql`insert into settings (name, value) values ('kept', 'yes')`.execute(store.db);
    return store;
  }

  test('of the first version is brought up to date, and what it holds stays', async () => {
    const first = await openFirst();
    await first.close();
    const now = await attach(first.dataDir, first.databaseUrl);
    const kept = await now.db.selectFrom('settings').select('value').where('name', '=', 'kept').executeTakeFirst();
    expect(kept).toEqual({ value: 'yes' });
    expect(await now.db.selectFrom('session_facts').select('version').execute()).toEqual([]);
    await now.close();
  });

  test('of a newer version is left alone, with a sentence that says what to do', async () => {
    const store = keep(await openTestStore(engine));
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01T00:00:00.000Z')`.execute(
      store.db,
    );
    await store.close();
    await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow(/written by a newer version/);
  });

  test('keeps nothing of a change that failed', async () => {
    const first = await openFirst();
    // In the way of the change.
    await sql`alter table summaries add column version integer`.execute(first.db);
    await first.close();
    await expect(attach(first.dataDir, first.databaseUrl)).rejects.toThrow(/0002-lists failed; nothing of it was kept/);
    await expect(attach(first.dataDir, first.databaseUrl)).rejects.toThrow(/0002-lists failed; nothing of it was kept/);
  });

  if (engine === 'postgres') {
    test('is brought up to date by one of many replicas that start at once', async () => {
      const first = await openFirst();
      const replicas = await Promise.all(Array.from({ length: 8 }, () => attach(first.dataDir, first.databaseUrl)));
      for (const replica of replicas) await replica.ping();
      const { rows } = await sql`select name from kysely_migration`.execute(first.db);
      expect(rows.length).toBeGreaterThan(1);
      for (const replica of replicas) await replica.close();
    });

    test('leaves counters where they are, bodies as they come, and limits out of the log', async () => {
      const { db } = keep(await openTestStore(engine));
      const { rows } = await sql`
        select
          (select reloptions from pg_class where relname = 'sessions') as options,
          (select relpersistence from pg_class where relname = 'rate_limits') as persistence,
          (select attstorage from pg_attribute where attrelid = 'appends'::regclass and attname = 'body') as storage,
          (select count(*) from pg_constraint where conrelid = 'appends'::regclass and contype = 'f') as keys`.execute(
        db,
      );
      expect(rows).toEqual([{ options: ['fillfactor=70'], persistence: 'u', storage: 'e', keys: 0 }]);
    });

    test('lets an append change its session without touching an index', async () => {
      const { db } = keep(await openTestStore(engine));
      const { rows } = await sql<{ indexdef: string }>`
        select indexdef from pg_indexes where tablename = 'sessions'`.execute(db);
      expect(rows.length).toBeGreaterThan(4);
      for (const { indexdef } of rows) expect(indexdef).not.toMatch(/event_count|updated_at/);
    });
  }
});

async function empty(db: Kysely<Database>, engine: string): Promise<void> {
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
