import { IdleThread } from '../../idle-thread.ts';
import type { ConnectionThread } from './connection-thread.ts';
import type { Job, Statement } from './jobs.ts';

export interface LogCheckpointOptions {
  writer: Pick<ConnectionThread, 'run'>;
  reserveWriter: () => Promise<() => void>;
  /** Starts the thread with the other connection. */
  start: () => ConnectionThread;
}

/**
 * The log is moved when it has this many pages: 8 MiB. The disk syncs appends and a move one after the other, and a move of twice as many
 * pages delays appends by 30 ms.
 */
const PAGES = 2_000;
/** A job writes a few dozen pages, so the log is seldom long enough. */
const LOOK_EVERY = 32;
const DEADLINE_MS = 60_000;
const IDLE_MS = 10_000;

const WRITES: ReadonlySet<Job['kind']> = new Set(['query', 'change', 'derived'] satisfies Job['kind'][]);

const checkpoint = (mode: 'noop' | 'passive'): Statement => ({ sql: `pragma wal_checkpoint(${mode})`, parameters: [] });

/**
 * Moves the pages of SQLite's write-ahead log into the file, on a thread of its own. SQLite would do it within a commit, and all appends
 * would wait for it: 4,000 pages take 50 ms.
 *
 * | state   | when                                | becomes                                            |
 * | ------- | ----------------------------------- | -------------------------------------------------- |
 * | quiet   | `note`: 32 jobs were done           | looking                                            |
 * | looking | the log has less than 2,000 pages   | quiet                                              |
 * | looking | the log is longer                   | moving                                             |
 * | moving  | all is moved                        | quiet; the next write begins at the log's start    |
 * | moving  | a reader needs the log, or it fails | quiet; tried again, at last by SQLite in a commit |
 */
export class LogCheckpoint {
  readonly #options: LogCheckpointOptions;
  readonly #thread: IdleThread<ConnectionThread>;
  #jobs = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: LogCheckpointOptions) {
    this.#options = options;
    this.#thread = new IdleThread({ start: options.start, deadlineMs: DEADLINE_MS, idleMs: IDLE_MS });
  }

  /** Records a job of the writer. */
  note({ kind }: Job): void {
    if (this.#isClosed || !WRITES.has(kind) || ++this.#jobs < LOOK_EVERY || this.#running) return;
    this.#jobs = 0;
    this.#running = this.#look()
      .catch(() => undefined)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Ends the thread. The writer closes after it, because the last connection empties the log. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await this.#thread.close();
  }

  async #look(): Promise<void> {
    const { writer } = this.#options;
    const { rows } = await writer.run({ kind: 'read', ...checkpoint('noop') });
    const [{ log }] = rows as [{ log: number }];
    if (log >= PAGES) await this.#move();
  }

  /** The second pass moves what was written during the first one, and the writer only the last few pages. */
  async #move(): Promise<void> {
    const { writer, reserveWriter } = this.#options;
    const pass = () => this.#thread.use((thread) => thread.run({ kind: 'query', ...checkpoint('passive') }));
    await pass();
    await pass();
    const release = await reserveWriter();
    try {
      await writer.run({ kind: 'query', ...checkpoint('passive') });
    } finally {
      release();
    }
  }
}
