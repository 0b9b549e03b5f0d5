import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { attach, ENGINES, emptyStore, openTestStore, type TestStore } from './engines.ts';

describe.each(ENGINES)('the schema on %s', (engine) => {
  const opened: TestStore[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0).reverse()) await store.dispose();
  });
  const open = async () => {
    const store = await openTestStore(engine);
    opened.push(store);
    return store;
  };

  test('a store that is opened again keeps its rows', async () => {
    const store = await open();
    await sql`insert into settings (name, value) values ('kept', 'yes')`.execute(store.db);
    await store.close();
    const again = await attach(store.dataDir, store.databaseUrl);
    const kept = await again.db.selectFrom('settings').select('value').where('name', '=', 'kept').executeTakeFirst();
    expect(kept).toEqual({ value: 'yes' });
    await again.close();
  });

  test('a store of a newer version is refused, and the error says what to do', async () => {
    const store = await open();
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01T00:00:00.000Z')`.execute(
      store.db,
    );
    await store.close();
    await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow(/written by a newer version/);
  });

  test('a store from before the first release is refused, and the error says what to do', async () => {
    const store = await open();
    await sql`update kysely_migration set name = '0001-initial'`.execute(store.db);
    await store.close();
    await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow(
      /before the first release and cannot be upgraded; start with an empty DATA_DIR or DATABASE_URL/,
    );
  });

  test('a schema change that fails keeps nothing', async () => {
    const store = await open();
    await emptyStore(store, engine);
    // The last table of the schema is in the way.
    await sql`create table provider_records (record_id text)`.execute(store.db);
    await store.close();
    for (let attempt = 1; attempt <= 2; attempt++) {
      await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow(
        /0001-schema failed; nothing of it was kept/,
      );
    }
  });

  if (engine === 'postgres') {
    test('many replicas that start at once on an empty database create the schema once', async () => {
      const first = await open();
      await emptyStore(first, engine);
      const replicas = await Promise.all(Array.from({ length: 8 }, () => attach(first.dataDir, first.databaseUrl)));
      for (const replica of replicas) await replica.ping();
      const { rows } = await sql`select name from kysely_migration`.execute(first.db);
      expect(rows).toEqual([{ name: '0001-schema' }]);
      for (const replica of replicas) await replica.close();
    });

    test('the tables leave room for counters, keep bodies as they come, and log no rate limits', async () => {
      const { db } = await open();
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

    test('an append changes its session without touching an index', async () => {
      const { db } = await open();
      const { rows } = await sql<{ indexdef: string }>`
        select indexdef from pg_indexes where tablename = 'sessions'`.execute(db);
      expect(rows.length).toBeGreaterThan(4);
      for (const { indexdef } of rows) expect(indexdef).not.toMatch(/event_count|updated_at/);
    });
  }
});
