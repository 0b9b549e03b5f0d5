import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeFolder } from '../../test/folder.ts';
import { withDatabase } from './source.ts';

/** An agent that exits at once if its database is locked, and that leaves its log behind when it ends. */
const IMPATIENT = `
  const db = new (require('node:sqlite').DatabaseSync)(process.argv[1], { timeout: 0 });
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS rows (text)');
  for (let row = 0; row < 30; row++) db.exec("INSERT INTO rows VALUES ('" + 'x'.repeat(2000) + "')");
  process.kill(process.pid, 'SIGKILL');`;

const startAgent = (path: string) =>
  spawn(process.execPath, ['--no-warnings', '-e', IMPATIENT, path], { stdio: ['ignore', 'ignore', 'pipe'] });

/** The agent's errors while its database is read as often as possible. */
async function readWhile(agent: ChildProcess, read: () => void): Promise<string> {
  let complaint = '';
  agent.stderr?.on('data', (chunk) => {
    complaint += String(chunk);
  });
  const ended = once(agent, 'exit');
  while (agent.exitCode === null && agent.signalCode === null) {
    read();
    await giveWay();
  }
  await ended;
  return complaint;
}

test("reading an agent's database never locks it, and misses no row", async () => {
  const path = join(makeFolder(), 'agent.db');
  let most = 0;
  let reads = 0;
  const count = () => {
    const [row] = withDatabase(path, (query) => query('SELECT count(*) AS rows FROM rows'));
    return Number(row?.rows);
  };
  for (let start = 1; start <= 10; start++) {
    const complaint = await readWhile(startAgent(path), () => {
      try {
        const rows = count();
        expect(rows).toBeGreaterThanOrEqual(most);
        most = rows;
        reads++;
      } catch (error) {
        // The agent is still creating the file, its table or its log.
        if (!(error instanceof Error && 'code' in error)) throw error;
      }
    });
    expect(complaint).toBe('');
    expect(count()).toBe(start * 30);
  }
  expect(reads).toBeGreaterThan(10);
});

test('a copy of a database and its log is read with the rows of the log', async () => {
  const folder = makeFolder();
  const path = join(folder, 'agent.db');
  await once(startAgent(path), 'exit');
  for (const end of ['', '-wal']) copyFileSync(path + end, join(folder, `copy.db${end}`));
  const rows = withDatabase(join(folder, 'copy.db'), (query) => query('SELECT text FROM rows'));
  expect(rows).toHaveLength(30);
});
