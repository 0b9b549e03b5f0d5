import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../store/open.ts';
import { type OpenFile, openFile } from '../store/sqlite/open-file.ts';

/** Fewer chunks than SQLite merges twice by itself, which happens at every 64 segments. */
const CHUNKS = 120;

let folder: string;
let path: string;
let file: OpenFile;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'capture-words-'));
  const store = await openStore({ dataDir: folder, onError: () => undefined });
  await store.close();
  path = join(folder, 'session-capture.sqlite');
  file = await openFile(path, () => undefined);
});

afterEach(async () => {
  await file.close();
  rmSync(folder, { recursive: true });
});

const run = (sql: string) => file.writer.run({ kind: 'query', sql, parameters: [] });

async function writeWords(): Promise<void> {
  for (let chunk = 1; chunk <= CHUNKS; chunk++) {
    const words = Array.from({ length: 300 }, (_, n) => `word${(chunk * 7919 + n * 104_729) % 50_000}`).join(' ');
    const sql = 'insert into chunk_words (rowid, words) values (?, ?)';
    await file.writer.run({ kind: 'derived', statements: [{ sql, parameters: [chunk, `${words} everywhere`] }] });
  }
}

async function countSegments(): Promise<number> {
  const { rows } = await run('select count(distinct segid) as count from chunk_words_idx');
  return (rows as { count: number }[])[0]?.count ?? 0;
}

test('the segments of the index of words are merged after the writes without losing a word', async () => {
  await writeWords();
  await expect.poll(countSegments).toBeLessThan(20);
  const { rows } = await run(`select count(*) as count from chunk_words where chunk_words match '"everywhere"'`);
  expect(rows).toEqual([{ count: CHUNKS }]);
  await run("insert into chunk_words (chunk_words, rank) values ('integrity-check', 0)");
});

test('nothing is merged within another transaction, so that its rollback reverts no merge', async () => {
  await writeWords();
  await run('begin immediate');
  await run(`insert into settings (name, value) values ('a', 'b')`);
  const before = await countChanges();
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(await countChanges()).toBe(before);
  await run('rollback');
  await expect.poll(countSegments).toBeLessThan(20);
});

async function countChanges(): Promise<number> {
  const { rows } = await run('select total_changes() as count');
  return (rows as { count: number }[])[0]?.count ?? 0;
}

test('the writer syncs transactions that follow a merge', async () => {
  await writeWords();
  await expect.poll(countSegments).toBeLessThan(20);
  expect((await run('pragma synchronous')).rows).toEqual([{ synchronous: 2 }]);
});

test('a file can be closed while its words are being merged', async () => {
  await writeWords();
  await file.close();
  const closed = new DatabaseSync(path);
  expect(closed.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' });
  closed.close();
  file = await openFile(path, () => undefined);
});
