import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { createAppendGroup } from './append-group.ts';
import { openReader, openWriter } from './connection.ts';
import type { Job, Reply, Rows, ThreadOptions } from './jobs.ts';

/**
 * A thread with one connection to the file: it does one job after the other, and posts one reply for each. It ends at once
 * when it cannot open the file.
 */
const { path, readOnly } = workerData as ThreadOptions;

reply(() => {
  const work = createWork(readOnly ? openReader(path) : openWriter(path));
  parentPort?.on('message', (job: Job) => reply(() => work(job)));
});

function reply(make: () => unknown): void {
  const post = (message: Reply) => parentPort?.postMessage(message);
  try {
    post({ answer: make() });
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
    post({ error: { message, code, errcode } });
  }
}

function createWork(database: DatabaseSync): (job: Job) => unknown {
  const query = createQuery(database);
  let appendGroup: ReturnType<typeof createAppendGroup> | undefined;
  return (job) => {
    if (job.kind === 'query') return query(job.sql, job.parameters);
    if (job.kind === 'close') return database.close();
    // Its statements can be prepared once the tables are there.
    appendGroup ??= createAppendGroup(database);
    return appendGroup(job.batches);
  };
}

const MOST_STATEMENTS = 500;

function createQuery(database: DatabaseSync): (sql: string, parameters: readonly unknown[]) => Rows {
  const statements = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    const made = database.prepare(sql);
    if (statements.size >= MOST_STATEMENTS) statements.clear();
    statements.set(sql, made);
    return made;
  }

  return (sql, parameters) => {
    // After a failed commit there may be nothing left to take back.
    if (sql === 'rollback' && !database.isTransaction) return { rows: [] };
    const statement = prepare(sql);
    const values = parameters as SQLInputValue[];
    if (statement.columns().length > 0) return { rows: statement.all(...values) };
    return { rows: [], changes: Number(statement.run(...values).changes) };
  };
}
