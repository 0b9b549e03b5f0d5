import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { changesOf, migrate } from '../store/migrate.ts';
import { isValidIndex } from '../store/postgres.ts';
import { DERIVED, MOVED, REMOVED, SESSION_TABLES, TENANT_TABLES } from '../store/tables.ts';
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

  test('a store of a newer version is refused, and the error names the remedy', async () => {
    const store = await open();
    await sql`insert into schema_changes values ('9998-additive', 1, 0), ('9999-later', 0, 0)`.execute(store.db);
    await store.close();
    await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow(/written by a newer version/);
  });

  test('a store to which a newer version only added can be opened, so that a release can be rolled back', async () => {
    const store = await open();
    await sql`insert into settings (name, value) values ('kept', 'yes')`.execute(store.db);
    await sql`insert into schema_changes values ('9998-additive', 1, 0)`.execute(store.db);
    await sql`alter table settings add column later integer`.execute(store.db);
    await store.close();
    const again = await attach(store.dataDir, store.databaseUrl);
    expect(await again.db.selectFrom('settings').select('value').where('name', '=', 'kept').execute()).toHaveLength(1);
    await again.close();
  });

  test('a store from before the first release is refused, and the error names the remedy', async () => {
    const store = await open();
    await sql`drop table schema_changes`.execute(store.db);
    await sql`create table kysely_migration (name text)`.execute(store.db);
    await store.close();
    await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow(
      /before the first release and cannot be upgraded; start with an empty DATA_DIR or DATABASE_URL/,
    );
  });

  test('a failed schema change keeps nothing', async () => {
    const store = await open();
    await emptyStore(store, engine);
    // The last table of the schema exists already.
    await sql`create table provider_records (record_id text)`.execute(store.db);
    await store.close();
    for (let attempt = 1; attempt <= 2; attempt++) {
      await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow(
        /0001-schema failed; nothing of it was kept/,
      );
    }
  });

  test('every table is in the list of owners', async () => {
    const { db } = await open();
    // Tables of one process or file, which are useless elsewhere.
    const others = new Set(['schema_changes', 'rate_limits', 'durability']);
    const tables = (await db.introspection.getTables()).filter(({ name }) => !/^(chunk_words|sqlite_)/.test(name));
    const names = tables.map(({ name }) => name).filter((name) => !others.has(name));
    expect(names.sort()).toEqual([...MOVED, ...DERIVED].sort());
    const owned = tables.filter(({ columns }) => columns.some(({ name }) => name === 'organization_id'));
    expect(owned.map(({ name }) => name).sort()).toEqual([...new Set([...TENANT_TABLES, ...REMOVED])].sort());
    const ofSessions = tables.filter(({ columns }) => columns.some(({ name }) => name === 'session_id'));
    expect(ofSessions.map(({ name }) => name).sort()).toEqual([...SESSION_TABLES].sort());
  });

  test('removing a referenced row scans no table', async () => {
    const { db } = await open();
    const unindexed =
      engine === 'sqlite'
        ? sql<{ place: string }>`
          select tables.name || '.' || key."from" as place
          from sqlite_master as tables, pragma_foreign_key_list(tables.name) as key
          where tables.type = 'table' and not exists (
            select 1 from pragma_index_list(tables.name) as indexes, pragma_index_info(indexes.name) as first
            where indexes.partial = 0 and first.seqno = 0 and first.name = key."from")`
        : sql<{ place: string }>`
          select conrelid::regclass || '.' || attname as place
          from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
          where contype = 'f' and not exists (
            select from pg_index where indrelid = conrelid and indpred is null and indkey[0] = conkey[1])`;
    const { rows } = await unindexed.execute(db);
    // Sign-ins end after minutes, so this table has few rows.
    expect(rows).toEqual([{ place: 'device_sign_ins.organization_id' }]);
  });

  /** Two changes, as a later version would bring them. */
  const COLUMN = { name: '0002-column', isAdditive: true, statements: ['alter table settings add column later text'] };
  const INDEX = { name: '0003-index', isAdditive: true, index: 'settings_later', on: 'settings (later, name)' };
  const withTwo = [...changesOf(engine), COLUMN, INDEX];
  const madeIn = async ({ db }: TestStore) =>
    (await sql<{ name: string }>`select name from schema_changes order by name`.execute(db)).rows.map(
      ({ name }) => name,
    );

  test('a store is upgraded by changes that each end before the next begins, and only once', async () => {
    const store = await open();
    const failing = [...changesOf(engine), COLUMN, { ...INDEX, on: 'settings (no_such_column)' }];
    await expect(migrate(store.db, engine, failing)).rejects.toThrow('the schema change 0003-index failed');
    expect(await madeIn(store)).toEqual(['0001-schema', '0002-column']);
    await migrate(store.db, engine, withTwo);
    await migrate(store.db, engine, withTwo);
    expect(await madeIn(store)).toEqual(['0001-schema', '0002-column', '0003-index']);
    await sql`insert into settings (name, value, later) values ('a', 'b', 'c')`.execute(store.db);
  });

  if (engine === 'postgres') {
    test('appends continue during an index build, and wait at most a second for a lock', async () => {
      const store = await open();
      await sql`insert into settings (name, value) select 'name ' || n, 'x' from generate_series(1, 12) n`.execute(
        store.db,
      );
      // More than half a second for 12 rows.
      await sql`create function slowly(text) returns text immutable language sql as
        $$ select $1 from (select pg_sleep(0.05)) as waited $$`.execute(store.db);
      const slow = { ...INDEX, index: 'settings_slow', on: 'settings (slowly(value))' };
      // A reader holds a lock on the table, as a backup does, and the change gives up at least once.
      const reader = await store.db.startTransaction().execute();
      await sql`select from settings`.execute(reader);
      const reading = setTimeout(800).then(() => reader.commit().execute());
      let ended = false;
      const upgrade = migrate(store.db, engine, [...changesOf(engine), COLUMN, slow], 50).finally(() => {
        ended = true;
      });
      const waits: number[] = [];
      while (!ended) {
        const started = performance.now();
        await sql`update settings set value = value where name = 'name 1'`.execute(store.db);
        waits.push(performance.now() - started);
        await setTimeout(10);
      }
      await Promise.all([upgrade, reading]);
      expect(await madeIn(store)).toContain('0003-index');
      expect(waits.length).toBeGreaterThan(20);
      expect(Math.max(...waits)).toBeLessThan(1_000);
    });

    test('an index with an interrupted build is built again', async () => {
      const store = await open();
      await migrate(store.db, engine, [...changesOf(engine), COLUMN]);
      await sql`insert into settings (name, value, later) values ('a', 'x', 'same'), ('b', 'x', 'same')`.execute(
        store.db,
      );
      const unique = { ...INDEX, isUnique: true, on: 'settings (later)' };
      await expect(migrate(store.db, engine, [...changesOf(engine), COLUMN, unique])).rejects.toThrow(
        '0003-index failed',
      );
      expect(await isValidIndex(store.db, INDEX.index)).toBe(false);
      await sql`delete from settings where name = 'b'`.execute(store.db);
      await migrate(store.db, engine, [...changesOf(engine), COLUMN, unique]);
      expect(await isValidIndex(store.db, INDEX.index)).toBe(true);
    });

    test('a change fails if the connection of its lock is lost, and the store can still be closed', async () => {
      const store = await open();
      const loseLock = {
        ...COLUMN,
        statements: [
          `select pg_terminate_backend(pid) from pg_locks
          where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
        ],
      };
      await expect(migrate(store.db, engine, [...changesOf(engine), loseLock])).rejects.toThrow(/terminat|queryable/i);
      await store.close();
    });

    test('a start fails if its connection is lost while it waits for the lock', async () => {
      const store = await open();
      const name = sql.ref(new URL(String(store.databaseUrl)).pathname.slice(1));
      await sql`
        create function public.pg_try_advisory_xact_lock(bigint) returns boolean language sql as
        'select pg_terminate_backend(pg_backend_pid())'`.execute(store.db);
      await sql`alter database ${name} set search_path = public, pg_catalog`.execute(store.db);
      await store.close();
      await expect(attach(store.dataDir, store.databaseUrl)).rejects.toThrow();
    });

    test('many replicas that start at once build an index once, and none waits forever', async () => {
      const store = await open();
      const replicas = await Promise.all(Array.from({ length: 6 }, () => attach(store.dataDir, store.databaseUrl)));
      await Promise.all(replicas.map(({ db }) => migrate(db, engine, withTwo)));
      expect(await madeIn(store)).toEqual(['0001-schema', '0002-column', '0003-index']);
      for (const replica of replicas) await replica.close();
    });

    test('many replicas that start at once on an empty database create the schema once', async () => {
      const first = await open();
      await emptyStore(first, engine);
      const replicas = await Promise.all(Array.from({ length: 8 }, () => attach(first.dataDir, first.databaseUrl)));
      for (const replica of replicas) await replica.ping();
      const { rows } = await sql`select name, additive from schema_changes`.execute(first.db);
      expect(rows).toEqual([{ name: '0001-schema', additive: 1 }]);
      for (const replica of replicas) await replica.close();
    });

    test('tables leave room for counters, store bodies uncompressed, and do not log rate limits', async () => {
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
