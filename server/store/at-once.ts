import { CompiledQuery, type DatabaseConnection } from 'kysely';
import type { Db } from './schema.ts';

/** A connection that takes a whole transaction as one message. */
export interface AtOnceConnection extends DatabaseConnection {
  runAtOnce(statements: readonly CompiledQuery[]): Promise<boolean>;
}

/**
 * Runs statements whose results nobody needs in one transaction. SQLite's thread takes them in one message, PostgreSQL in
 * three round trips.
 * @returns false, without writing, if the first of them changed no row
 */
export const runAtOnce = (db: Db, statements: readonly CompiledQuery[]): Promise<boolean> =>
  db.getExecutor().provideConnection((connection) => {
    return 'runAtOnce' in connection
      ? (connection as AtOnceConnection).runAtOnce(statements)
      : runPipelined(connection, statements);
  });

const [BEGIN, COMMIT, ROLLBACK] = ['begin', 'commit', 'rollback'].map((sql) => CompiledQuery.raw(sql)) as [
  CompiledQuery,
  CompiledQuery,
  CompiledQuery,
];

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
