import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { sql } from 'kysely';
import { Problem } from '../../contract/problem.ts';
import { type AppendSteps, type Batch, createAppendSteps, type Outcome, type Step } from '../store/appends.ts';
import { isUnavailable, storeUnavailable, uniqueViolation } from '../store/dialect.ts';
import type { Db, Store } from '../store/open.ts';

/** The one write path of events. Resolves once the batch is durable. */
export type Append = (batch: Batch) => Promise<Outcome>;

export function createAppend(store: Store): Append {
  const steps = createAppendSteps(store.db);
  return store.sqlite ? groupCommit(store.db, store.sqlite, steps) : transactionEach(store.db, steps);
}

interface Waiting {
  batch: Batch;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** The most batches one commit takes, so that the first of them need not wait long. */
const LARGEST_GROUP = 128;

/** Beyond this many waiting batches the store is too slow for what comes in, and says so. */
const MOST_WAITING = 4_096;

/**
 * Appends that wait together share one commit, and so one fsync; they are answered after it. A refused one is refused
 * before it wrote anything, so it cannot spoil the others.
 */
function groupCommit(db: Db, sqlite: DatabaseSync, steps: (batch: Batch) => AppendSteps): Append {
  let waiting: Waiting[] = [];
  let draining = false;
  const run = createRunner(sqlite);

  function commitGroup(group: readonly Waiting[]): void {
    const answers: (() => void)[] = [];
    sqlite.exec('BEGIN IMMEDIATE');
    try {
      for (const { batch, resolve, reject } of group) {
        try {
          const outcome = drive(steps(batch), run);
          answers.push(() => resolve(outcome));
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          answers.push(() => reject(error));
        }
      }
      sqlite.exec('COMMIT');
    } catch (error) {
      if (sqlite.isTransaction) sqlite.exec('ROLLBACK');
      throw error;
    }
    for (const answer of answers) answer();
  }

  async function drain(): Promise<void> {
    // The requests that arrive in this turn of the event loop join the group.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const group = waiting.slice(0, LARGEST_GROUP);
      waiting = waiting.slice(LARGEST_GROUP);
      try {
        // Holding the connection keeps transactions of other queries out.
        await db.connection().execute(async () => commitGroup(group));
      } catch (error) {
        for (const { reject } of group) reject(isUnavailable(error) ? storeUnavailable(error) : error);
      }
    }
    draining = false;
  }

  return (batch) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= MOST_WAITING) return reject(storeUnavailable('too many appends wait for the store'));
      waiting.push({ batch, resolve, reject });
      if (draining) return;
      draining = true;
      void drain();
    });
}

function createRunner(sqlite: DatabaseSync): (step: Step) => unknown[] {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  return (step) => {
    let statement = statements.get(step.sql);
    if (!statement) {
      statement = sqlite.prepare(step.sql);
      statements.set(step.sql, statement);
    }
    return statement.all(...(step.parameters as SQLInputValue[]));
  };
}

function drive(steps: AppendSteps, run: (step: Step) => unknown[]): Outcome {
  let next = steps.next();
  while (!next.done) next = steps.next(run(next.value));
  return next.value;
}

function transactionEach(db: Db, steps: (batch: Batch) => AppendSteps): Append {
  return async (batch) => {
    try {
      return await db.transaction().execute(async (transaction) => {
        if (batch.idempotencyKey !== null) await claimKey(transaction, batch);
        const running = steps(batch);
        let next = running.next();
        while (!next.done) next = running.next((await transaction.executeQuery(next.value)).rows);
        return next.value;
      });
    } catch (error) {
      if (uniqueViolation(error) !== undefined) throw inProgress();
      throw isUnavailable(error) ? storeUnavailable(error) : error;
    }
  };
}

/** The lock goes with the transaction, so a crash leaves none behind. */
async function claimKey(transaction: Db, batch: Batch): Promise<void> {
  const name = `${batch.sessionId} ${batch.idempotencyKey}`;
  const { rows } = await sql<{ claimed: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as claimed`.execute(transaction);
  if (!rows[0]?.claimed) throw inProgress();
}

const inProgress = () =>
  new Problem(
    'idempotency_in_progress',
    'A request with this idempotency key is still running. Repeat it in a moment.',
    {
      retryAfter: 1,
    },
  );
