import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { ChangeRequest } from '../../log/journal.ts';
import { collectGarbage } from '../../memory.ts';
import { createChangeGroup, type Settled } from './change-group.ts';
import { openCheckpointer, openReader, openWriter } from './connection.ts';
import type { Job, Replies, Reply, Rows, Statement, ThreadOptions } from './jobs.ts';
import { unsynced, WordMerger } from './word-merger.ts';

/**
 * A thread with one connection to the file. It runs one job after the other, and replies to each. It ends at once if it cannot
 * open the file.
 */
const { path, role, isSnapshot } = workerData as ThreadOptions;
const OPEN = { writer: openWriter, reader: openReader, checkpointer: openCheckpointer };
const post = (replies: Replies) => parentPort?.postMessage(replies);

post([
  attempt(() => {
    const database = OPEN[role](path);
    if (isSnapshot) database.exec('BEGIN');
    const work = createWork(database);
    parentPort?.on('message', work);
  }),
]);

function attempt(make: () => unknown): Reply {
  try {
    return { answer: make() };
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
    return { error: { message, code, errcode } };
  }
}

function createWork(database: DatabaseSync): (job: Job) => void {
  const query = createQuery(database);
  const words = new WordMerger(database);
  let changeGroup: ReturnType<typeof createChangeGroup> | undefined;

  let reader: { database: DatabaseSync; query: typeof query } | undefined;

  function read(statement: Statement): Rows {
    if (!reader) {
      const database = openReader(path);
      reader = { database, query: createQuery(database) };
    }
    return reader.query(statement);
  }

  function rest(): void {
    for (const each of [database, reader?.database]) each?.exec('PRAGMA shrink_memory');
    collectGarbage();
  }

  function close(): void {
    // The last connection that closes moves the write-ahead log into the file, so it must be able to write.
    reader?.database.close();
    database.close();
  }

  function change(changes: readonly ChangeRequest[]): Replies {
    const settled = attempt(() => {
      // Its statements can be prepared only after the tables exist.
      changeGroup ??= createChangeGroup(database);
      return changeGroup(changes);
    });
    if ('error' in settled) return changes.map(() => settled);
    return (settled.answer as Settled[]).map((answer) => ({ answer }));
  }

  function derived(statements: readonly Statement[]): boolean {
    const isTaken = unsynced(database, () => transaction(statements));
    if (isTaken) words.note();
    return isTaken;
  }

  function transaction([first, ...rest]: readonly Statement[]): boolean {
    database.exec('BEGIN IMMEDIATE');
    try {
      const isTaken = first !== undefined && query(first).changes !== 0;
      if (isTaken) for (const statement of rest) query(statement);
      database.exec(isTaken ? 'COMMIT' : 'ROLLBACK');
      return isTaken;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  return function work(job) {
    if (job.kind === 'query') return post([attempt(() => query(job))]);
    if (job.kind === 'derived') return post([attempt(() => derived(job.statements))]);
    if (job.kind === 'read') return post([attempt(() => read(job))]);
    if (job.kind === 'rest') return post([attempt(rest)]);
    if (job.kind === 'close') return post([attempt(close)]);
    const { changes, next } = takeGroup(job.change);
    post(change(changes));
    if (next) work(next);
  };
}

/** The most that one commit writes, so that its first change does not wait long. Writing 4 MiB takes about 10 ms. */
const MAX_GROUP = { count: 128, bytes: 4 * 1024 * 1024 };

const bytesOf = ({ frame }: ChangeRequest) => frame?.body.byteLength ?? 0;

/** The change with those that have arrived meanwhile, and the job after them. */
function takeGroup(first: ChangeRequest): { changes: ChangeRequest[]; next?: Job } {
  const changes = [first];
  for (let bytes = bytesOf(first); changes.length < MAX_GROUP.count && bytes < MAX_GROUP.bytes; ) {
    const job = parentPort && (receiveMessageOnPort(parentPort)?.message as Job | undefined);
    if (!job) break;
    if (job.kind !== 'change') return { changes, next: job };
    changes.push(job.change);
    bytes += bytesOf(job.change);
  }
  return { changes };
}

const MAX_STATEMENTS = 500;

function createQuery(database: DatabaseSync): (statement: Statement) => Rows {
  const statements = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    const made = database.prepare(sql);
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    statements.set(sql, made);
    return made;
  }

  return ({ sql, parameters }) => {
    // After a failed commit there may be no transaction left to roll back.
    if (sql === 'rollback' && !database.isTransaction) return { rows: [] };
    const statement = prepare(sql);
    const values = parameters as SQLInputValue[];
    if (statement.columns().length > 0) return { rows: statement.all(...values) };
    return { rows: [], changes: Number(statement.run(...values).changes) };
  };
}
