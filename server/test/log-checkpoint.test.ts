import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConnectionThread } from '../store/sqlite/connection-thread.ts';
import { LogCheckpoint } from '../store/sqlite/log-checkpoint.ts';
import { type OpenFile, openFile } from '../store/sqlite/open-file.ts';

const PAGE = 4096;
/** SQLite itself moves the log only when it is twice as long. */
const MOVED_AT = 2_000;

describe('the write-ahead log of the embedded store', () => {
  let folder: string;
  let path: string;
  let file: OpenFile;
  const errors: Error[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'capture-log-'));
    path = join(folder, 'store');
    file = await openFile(path, (error) => errors.push(error));
    await run('CREATE TABLE notes (text BLOB)');
  });
  afterEach(async () => {
    await file.close();
    rmSync(folder, { recursive: true });
    expect(errors.splice(0)).toEqual([]);
  });

  const run = (sql: string) => file.writer.run({ kind: 'query', sql, parameters: [] });
  async function write(pages: number): Promise<void> {
    for (let written = 0; written < pages; written += 40)
      await run(`INSERT INTO notes VALUES (zeroblob(${39 * PAGE}))`);
  }
  function logOf(): { log: number; checkpointed: number } {
    const database = new DatabaseSync(path, { readOnly: true });
    const state = database.prepare('PRAGMA wal_checkpoint(noop)').get();
    database.close();
    return state as { log: number; checkpointed: number };
  }

  const isMoved = () => {
    const { log, checkpointed } = logOf();
    return log === checkpointed;
  };

  test('begins again at its start once it has 2,000 pages, before SQLite would move it within a commit', async () => {
    await write(1.5 * MOVED_AT);
    await expect.poll(isMoved).toBe(true);
    await write(40);
    expect(logOf().log).toBeLessThan(MOVED_AT);
  });

  test('is left alone while it is short', async () => {
    await write(MOVED_AT / 2);
    expect(logOf()).toMatchObject({ checkpointed: 0 });
  });

  test('keeps the pages that a reader needs, and loses none', async () => {
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('BEGIN');
    const count = () => reader.prepare('SELECT count(*) AS count FROM notes').get()?.count;
    expect(count()).toBe(0);
    await write(1.5 * MOVED_AT);
    expect(count()).toBe(0);
    reader.exec('COMMIT');
    expect(count()).toBe(75);
    reader.close();
  });

  test('reports an error of the thread that moves it as one of the store', async () => {
    await write(0.75 * MOVED_AT);
    renameSync(folder, `${folder}-elsewhere`);
    await write(0.75 * MOVED_AT);
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    renameSync(`${folder}-elsewhere`, folder);
    expect(new Set(errors.splice(0).map(({ message }) => message))).toEqual(new Set(['unable to open database file']));
  });

  test('is moved while a transaction is open, and the transaction ends as it would otherwise', async () => {
    await write(MOVED_AT / 4);
    const release = await file.reserveWriter();
    await run('BEGIN IMMEDIATE');
    await write(MOVED_AT);
    await run('COMMIT');
    release();
    await write(0.6 * MOVED_AT);
    await expect.poll(isMoved).toBe(true);
  });
});

test('a checkpoint that fails is reported and tried again later, but not once the file is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'capture-log-'));
  const told: string[] = [];
  let asked = 0;
  const checkpoint = new LogCheckpoint({
    writer: {
      run: async () => {
        asked++;
        return { rows: [{ log: MOVED_AT }] } as never;
      },
    },
    reserveWriter: async () => () => {},
    start: () =>
      new ConnectionThread({ path: join(folder, 'missing', 'store'), role: 'checkpointer' }, ({ message }) =>
        told.push(message),
      ),
  });
  const work = () => {
    for (let job = 0; job < 32; job++) checkpoint.note({ kind: 'change' } as never);
    return told.length;
  };
  await expect.poll(work).toBeGreaterThan(1);
  await checkpoint.close();
  const before = asked;
  work();
  expect(asked).toBe(before);
  expect(new Set(told)).toEqual(new Set(['unable to open database file']));
  rmSync(folder, { recursive: true });
});
