import { CompiledQuery, type DatabaseConnection } from 'kysely';
import type { Db } from './schema.ts';

/** A connection that takes a whole transaction as one message. */
export interface AtOnceConnection extends DatabaseConnection {
  runAtOnce(statements: readonly CompiledQuery[]): Promise<boolean>;
}

/**
 * Writes derived rows in one transaction: SQLite's thread takes it in one message, PostgreSQL in three round trips. It is
 * not synced, because a crash that takes it back takes all of it, and it can be derived again. The next commit that is
 * synced makes it durable too.
 * @returns false, without writing, if the first of them changed no row
 */
export const runAtOnce = (db: Db, statements: readonly CompiledQuery[]): Promise<boolean> =>
  db.getExecutor().provideConnection((connection) => {
    return 'runAtOnce' in connection
      ? (connection as AtOnceConnection).runAtOnce(statements)
      : runPipelined(connection, statements);
  });

const BEGIN = CompiledQuery.raw('begin; set local synchronous_commit = off');
const COMMIT = CompiledQuery.raw('commit');
const ROLLBACK = CompiledQuery.raw('rollback');

async function runPipelined(
  connection: DatabaseConnection,
  [first, ...rest]: readonly CompiledQuery[],
): Promise<boolean> {
  if (!first) return false;
  const run = (statement: CompiledQuery) => connection.executeQuery(statement);
  await run(BEGIN);
  try {
    const { numAffectedRows } = await run(first);
    if (numAffectedRows === 0n) {
      await run(ROLLBACK);
      return false;
    }
    // Sent without waiting for each other. Behind one that fails the others do nothing, and the commit rolls back.
    const sent = [...rest, COMMIT].map(run);
    await Promise.allSettled(sent);
    await Promise.all(sent);
    return true;
  } catch (error) {
    await run(ROLLBACK).catch(() => undefined);
    throw error;
  }
}
