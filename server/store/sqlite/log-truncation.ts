import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** Deletions within this period share one truncation. */
const DELAY_MS = 2_000;
/** Delay before the retry of a truncation that a reader blocked. */
const RETRY_MS = 1_000;
/** How long one attempt may block the writer while it waits for readers. */
const READER_WAIT_MS = 50;
/** The usual `PRAGMA busy_timeout`; see `connection.ts`. */
const USUAL_WAIT_MS = 5_000;

/**
 * Removes deleted content from SQLite's write-ahead log, which keeps old pages until it is truncated. `secure_delete` clears
 * only the database file.
 */
export class LogTruncation {
  readonly #db: Db;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Truncates the log soon, and retries until no reader blocks it. */
  request(): void {
    this.#schedule(DELAY_MS);
  }

  /** Stops without a last truncation, because closing the file truncates its log. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#run();
    }, ms).unref();
  }

  async #run(): Promise<void> {
    try {
      if (!(await truncateLog(this.#db))) this.#schedule(RETRY_MS);
    } catch (error) {
      this.#onError(error);
      this.#schedule(RETRY_MS);
    }
  }
}

/** Truncates the log at once, and retries while a reader blocks it. @returns false if the patience was over first */
export async function emptyLog(db: Db, patienceMs: number): Promise<boolean> {
  const until = performance.now() + patienceMs;
  for (;;) {
    if (await truncateLog(db)) return true;
    if (performance.now() >= until) return false;
    await wait(RETRY_MS);
  }
}

/** @returns whether the log is empty now; false if a reader still needs it */
async function truncateLog(db: Db): Promise<boolean> {
  await sql`pragma busy_timeout = ${sql.raw(String(READER_WAIT_MS))}`.execute(db);
  try {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
    return rows[0]?.busy === 0;
  } finally {
    await sql`pragma busy_timeout = ${sql.raw(String(USUAL_WAIT_MS))}`.execute(db);
  }
}
