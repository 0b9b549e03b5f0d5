import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** How many pages a step merges. It takes about 3 ms, and an append may have to wait for it. */
const PAGES = 32;
/** How long a step waits for the end of a transaction. */
const BUSY_MS = 5;

/**
 * Merges the word index in short steps between other jobs. Each write adds a segment to the index, and a search reads
 * all segments. SQLite would merge them within later writes, which would prolong a write by up to 30 ms.
 *
 * | state   | when                                   | becomes                     |
 * | ------- | -------------------------------------- | --------------------------- |
 * | merged  | `note`: words were written             | waiting                     |
 * | waiting | its turn comes                         | merging: one step           |
 * | waiting | its turn comes within a transaction    | waiting, for 5 ms           |
 * | merging | the step had something to merge        | waiting                     |
 * | merging | the step had nothing to merge, or fails | merged                     |
 *
 * A step is not synced, because a crash that undoes it only leaves the segments unmerged.
 */
export class WordMerger {
  readonly #database: DatabaseSync;
  #statements: Record<'merge' | 'count', StatementSync> | undefined;
  #waiting = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  note(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    setImmediate(() => this.#step());
  }

  #step(): void {
    if (!this.#database.isOpen) return;
    if (this.#database.isTransaction) {
      setTimeout(() => this.#step(), BUSY_MS).unref();
      return;
    }
    this.#waiting = false;
    if (this.#merge()) this.note();
  }

  /** @returns whether it merged anything */
  #merge(): boolean {
    try {
      this.#statements ??= {
        merge: this.#database.prepare(`insert into chunk_words (chunk_words, rank) values ('merge', ${PAGES})`),
        count: this.#database.prepare('select total_changes() as count'),
      };
      const before = this.#count();
      unsynced(this.#database, () => this.#statements?.merge.run());
      // A merge that found nothing to do counts as one change: https://sqlite.org/fts5.html#the_merge_command
      return this.#count() - before >= 2;
    } catch {
      // The next write calls `note` again. Other jobs report a fault of the file to their callers.
      return false;
    }
  }

  #count(): number {
    return Number(this.#statements?.count.get()?.count);
  }
}

/** Runs a transaction without a sync. In WAL mode the file stays intact, and only the last commits can be lost. */
export function unsynced<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('PRAGMA synchronous = NORMAL');
  try {
    return work();
  } finally {
    database.exec('PRAGMA synchronous = FULL');
  }
}
