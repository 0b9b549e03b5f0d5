import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BUILT_SERVICE } from '../../test/service.ts';
import { isStoreLost, isUnavailable } from '../store/dialect.ts';
import { ConnectionThread } from '../store/sqlite/connection-thread.ts';
import { openFileToRead } from '../store/sqlite/open-file.ts';
import { Readers, type ReadersOptions } from '../store/sqlite/readers.ts';
import { openTestStore, type TestStore } from './engines.ts';

const COUNT = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)
  SELECT sum(n) AS sum FROM numbers`;

describe('the threads of the embedded store', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    await sql`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)`.execute(store.db);
  });
  afterEach(() => store.dispose());

  const write = (text: string, db = store.db) => sql`INSERT INTO notes (text) VALUES (${text})`.execute(db);
  const read = async (db = store.db) =>
    (await sql<{ text: string }>`SELECT text FROM notes ORDER BY id`.execute(db)).rows.map(({ text }) => text);

  test('load little more than their own program in the shipped build', () => {
    const folder = dirname(BUILT_SERVICE);
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const [, next = ''] of readFileSync(join(folder, file), 'utf8').matchAll(/require\("\.\/([^"]+)"\)/g))
        load(next);
    };
    load('connection-program.cjs');
    const bytes = [...loaded].reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    expect(bytes, [...loaded].join()).toBeLessThan(40_000);
  });

  test('read during an open transaction, and do not see its uncommitted rows', async () => {
    await store.db.transaction().execute(async (transaction) => {
      await write('within', transaction);
      expect(await read()).toEqual([]);
      expect(await read(transaction)).toEqual(['within']);
    });
    expect(await read()).toEqual(['within']);
  });

  test('fail a read of a snapshot whose thread ended, because another thread would see later writes', async () => {
    const started = vi.spyOn(ConnectionThread.prototype, 'run');
    const { reader, close } = openFileToRead(join(store.dataDir, 'session-capture.sqlite'), true);
    const query = { kind: 'query', sql: 'SELECT count(*) AS count FROM notes', parameters: [] } as const;
    await write('before');
    expect((await reader.run(query)).rows).toEqual([{ count: 1 }]);
    (started.mock.contexts.at(-1) as ConnectionThread).kill(new Error('it ended'));
    started.mockRestore();
    await write('later');
    await expect(reader.run(query)).rejects.toThrow('the thread that had the snapshot ended');
    await close();
  });

  test('read everything that was acknowledged before', async () => {
    for (let round = 1; round <= 300; round++) {
      await write(`round ${round}`);
      const seen = await Promise.all([read(), read(), read()]);
      expect(seen.map((rows) => rows.length)).toEqual([round, round, round]);
    }
  });

  test('block other writes between the statements of a transaction, and neither lose nor reorder them', async () => {
    let end = () => {};
    const isEnded = new Promise<void>((resolve) => {
      end = resolve;
    });
    const transaction = store.db.transaction().execute(async (within) => {
      await write('first of it', within);
      await isEnded;
      await write('last of it', within);
    });
    // A read returns only after the transaction has begun.
    await read();
    const others = Array.from({ length: 50 }, (_, index) => write(`after it ${index}`));
    expect(await read()).toEqual([]);
    end();
    await Promise.all([transaction, ...others]);
    expect(await read()).toEqual(['first of it', 'last of it', ...others.map((_, index) => `after it ${index}`)]);
  });

  test.each([
    ['one of its statements', async () => sql`INSERT INTO notes (nothing) VALUES (1)`],
    ['a constraint', async () => sql`INSERT INTO notes (text) VALUES ('taken')`],
    ['work between its statements', async () => Promise.reject(new Error('changed my mind'))],
  ])('release the writer, and keep nothing of a transaction that fails by %s', async (_, fail) => {
    await write('taken');
    const failing = store.db.transaction().execute(async (transaction) => {
      await write('half of it', transaction);
      await (await fail()).execute(transaction);
    });
    await expect(failing).rejects.toThrow();
    await write('after it');
    expect(await read()).toEqual(['taken', 'after it']);
  });

  test('refuse writes on a reading connection', async () => {
    const thread = new ConnectionThread(
      { path: join(store.dataDir, 'session-capture.sqlite'), role: 'reader' },
      () => undefined,
    );
    const writing = thread.run({ kind: 'query', sql: 'DELETE FROM notes', parameters: [] });
    await expect(writing).rejects.toMatchObject({ errcode: 8 });
    await thread.close();
  });

  test('settle all requests when they are closed', async () => {
    const work = Array.from({ length: 60 }, (_, index) => [
      write(`row ${index}`),
      sql.raw(COUNT).execute(store.db),
      store.db.transaction().execute(async (transaction) => {
        await write(`first of ${index}`, transaction);
        await write(`second of ${index}`, transaction);
      }),
    ]).flat();
    const settling = Promise.allSettled(work);
    await read();
    await store.close();
    const refused = (await settling).filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused) expect(isUnavailable(reason), String(reason)).toBe(true);
  });
});

describe('the writing thread', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore('sqlite');
    await sql`CREATE TABLE notes (id INTEGER PRIMARY KEY)`.execute(store.db);
  });
  afterEach(() => store.dispose());

  const read = async () => (await sql`SELECT id FROM notes`.execute(store.db)).rows;
  const write = () => sql`INSERT INTO notes DEFAULT VALUES`.execute(store.db);

  test('returns its memory, and continues to work', async () => {
    await write();
    await store.rest?.();
    await write();
    expect(await read()).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test('moves the log into the file at its close, even after reads', async () => {
    await write();
    await read();
    await store.close();
    expect(existsSync(join(store.dataDir, 'session-capture.sqlite-wal'))).toBe(false);
  });
});

describe('a pool of readers', () => {
  let folder: string;
  let started: ConnectionThread[];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'capture-threads-'));
    started = [];
    const writer = new ConnectionThread({ path: join(folder, 'store'), role: 'writer' }, () => undefined);
    await writer.ready;
    await writer.close();
  });
  afterEach(async () => {
    for (const thread of started) await thread.close();
    rmSync(folder, { recursive: true });
  });

  const pool = (file = () => 'store', more: Partial<ReadersOptions> = {}) =>
    new Readers({
      max: 2,
      diskAnswers: async () => true,
      start() {
        const thread = new ConnectionThread({ path: join(folder, file()), role: 'reader' }, () => undefined);
        started.push(thread);
        return thread;
      },
      ...more,
    });
  const count = { kind: 'query', sql: COUNT, parameters: [] } as const;
  /** Takes several seconds, and cannot be interrupted. */
  const slow = { ...count, sql: COUNT.replace('200000', '50000000') };

  const spare = (isIdle: boolean, takesMs = 0) => ({
    isIdle,
    async run() {
      if (takesMs > 0) await pause(takesMs);
      return { rows: [{ sum: 'by the spare thread' }] };
    },
  });

  test('starts no thread for short reads while the spare thread is idle', async () => {
    const readers = pool(undefined, { spare: spare(true) });
    for (let n = 0; n < 5; n++) expect((await readers.run(count)).rows).toEqual([{ sum: 'by the spare thread' }]);
    expect(started).toHaveLength(0);
    await readers.close();
  });

  test.each([
    ['for a long read', spare(true), true],
    ['while the spare thread has other work', spare(false), false],
  ])('starts a thread %s', async (_, busy, isLong) => {
    const readers = pool(undefined, { spare: busy });
    expect((await readers.run(count, isLong)).rows).toEqual([{ sum: 20_000_100_000 }]);
    expect(started).toHaveLength(1);
    await readers.close();
  });

  test('replaces the spare thread after a read that kept it busy for long', async () => {
    const readers = pool(undefined, { spare: spare(true, 30) });
    expect((await readers.run(count)).rows).toEqual([{ sum: 'by the spare thread' }]);
    expect((await readers.run(count)).rows).toEqual([{ sum: 20_000_100_000 }]);
    await readers.close();
  });

  test('replaces a thread that ended between two reads', async () => {
    const readers = pool();
    await readers.run(count);
    started[0]?.kill(new Error('it ended'));
    expect((await readers.run(count)).rows).toEqual([{ sum: 20_000_100_000 }]);
    expect(started).toHaveLength(2);
    await readers.close();
  });

  test('leaves no read waiting for the spare thread when it is closed', async () => {
    const readers = pool(undefined, { spare: spare(false) });
    const asked = expect(readers.run(count)).rejects.toThrow('the store is closed');
    await readers.close();
    await asked;
    expect(started).toHaveLength(0);
  });

  test('keeps a thread free of long reads, however many there are', async () => {
    const short = { ...count, sql: COUNT.replace('200000', '20000') };
    // Ten times as long as all short reads together.
    const longer = { ...count, sql: COUNT.replace('200000', '1000000') };
    const readers = pool();
    const ended: string[] = [];
    const long = [1, 2].map((n) => readers.run(longer, true).then(() => ended.push(`long ${n}`)));
    for (let n = 0; n < 5; n++) await readers.run(short);
    ended.push('short');
    await Promise.all(long);
    expect(ended).toEqual(['short', 'long 1', 'long 2']);
    expect(started).toHaveLength(2);
  });

  test('gives up a read that takes too long with 503, and continues with another thread', async () => {
    const readers = pool(undefined, { max: 1, deadlineMs: 1_500 });
    await readers.run(count);
    const [first, next] = await Promise.allSettled([readers.run(slow), readers.run(count)]);
    expect(first.status === 'rejected' && isUnavailable(first.reason), JSON.stringify(first)).toBe(true);
    expect(next).toMatchObject({ status: 'fulfilled', value: { rows: [{ sum: 20_000_100_000 }] } });
    expect(started.map(({ isGone }) => isGone)).toEqual([true, false]);
  });

  test('ends idle threads after a while, and starts one for the next read', async () => {
    const readers = pool(undefined, { idleMs: 50 });
    await readers.run(count);
    await expect.poll(() => started.map(({ isGone }) => isGone)).toEqual([true]);
    expect((await readers.run(count)).rows).toEqual([{ sum: 20_000_100_000 }]);
    expect(started).toHaveLength(2);
    await readers.close();
  });

  test('never starts more than two threads under any load', async () => {
    const readers = pool();
    await readers.run(count);
    expect(started).toHaveLength(1);
    await Promise.all(Array.from({ length: 40 }, () => readers.run(count)));
    expect(started).toHaveLength(2);
  });

  test('replaces a thread that could not open the file, and answers as soon as the file can be opened', async () => {
    let file = 'nowhere/store';
    const readers = pool(() => file);
    const refused = await Promise.allSettled(Array.from({ length: 5 }, () => readers.run(count)));
    for (const result of refused) {
      expect(result.status === 'rejected' && isUnavailable(result.reason), JSON.stringify(result)).toBe(true);
    }
    file = 'store';
    const answers = await Promise.all(Array.from({ length: 5 }, () => readers.run(count)));
    for (const { rows } of answers) expect(rows).toEqual([{ sum: 20_000_100_000 }]);
  });

  test('starts no thread after its close, and leaves no read waiting', async () => {
    const readers = pool();
    const asked = Promise.allSettled(Array.from({ length: 10 }, () => readers.run(count)));
    await readers.close();
    await asked;
    await expect(readers.run(count)).rejects.toThrow('the store is closed');
    expect(started).toHaveLength(1);
    const unused = pool();
    await unused.close();
    await expect(unused.run(count)).rejects.toThrow('the store is closed');
    expect(started).toHaveLength(1);
  });

  test('reports a thread that ended unexpectedly, because its last work has an unknown outcome', async () => {
    for (const role of ['reader', 'writer', 'checkpointer'] as const) {
      const workers: Worker[] = [];
      const remember = (worker: Worker) => void workers.push(worker);
      process.on('worker', remember);
      const told: Error[] = [];
      const thread = new ConnectionThread({ path: join(folder, 'store'), role }, (error) => told.push(error));
      await thread.ready;
      process.off('worker', remember);
      const endless = { ...count, sql: COUNT.replace('200000', '200000000000') };
      const asked = thread.run(endless).catch((error: unknown) => error);
      await workers[0]?.terminate();
      const refusal = await asked;
      expect([isUnavailable(refusal), isStoreLost(refusal)]).toEqual([true, true]);
      expect(told).toEqual([refusal]);
      expect(thread.isGone).toBe(true);
    }
  });
});
