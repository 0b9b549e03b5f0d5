import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../store/open.ts';
import { assertDurable } from '../store/sqlite/connection.ts';

describe('the embedded store', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'capture-durability-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const options = (name: string) => ({ dataDir: join(folder, name), onError: () => undefined });

  test('syncs its log at every commit', async () => {
    const store = await openStore(options('full'));
    // The pragma is read on the connection that writes.
    const ask = async (name: string) => (await sql`PRAGMA ${sql.raw(name)}`.execute(store.db)).rows;
    expect(await ask('synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await ask('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await ask('foreign_keys')).toEqual([{ foreign_keys: 1 }]);
    await store.close();
  });

  test.each([
    ['WAL', 'FULL', true],
    ['WAL', 'NORMAL', false],
    ['WAL', 'OFF', false],
    ['DELETE', 'FULL', false],
    ['MEMORY', 'FULL', false],
  ])('with journal_mode=%s and synchronous=%s counts as durable: %s', (journal, synchronous, durable) => {
    const database = new DatabaseSync(join(folder, `${journal}-${synchronous}.sqlite`));
    database.exec(`PRAGMA journal_mode = ${journal}; PRAGMA synchronous = ${synchronous}`);
    const check = () => assertDurable(database);
    if (durable) check();
    else expect(check).toThrow('the store is not durable');
    database.close();
  });

  test('belongs to one process at a time, and is free again once that process closes it', async () => {
    const first = await openStore(options('shared'));
    await expect(openStore(options('shared'))).rejects.toThrow(/another process already uses the data folder/);
    await first.close();
    const second = await openStore(options('shared'));
    await second.ping();
    await second.close();
  });

  test('is not opened by a program older than the one that wrote it', async () => {
    const store = await openStore(options('newer'));
    await sql`INSERT INTO schema_changes VALUES ('9999-later', 0, 0)`.execute(store.db);
    await store.close();
    await expect(openStore(options('newer'))).rejects.toThrow('written by a newer version');
    const again = await openStore(options('full'));
    await again.close();
  });
});
