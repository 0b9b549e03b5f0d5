import { IdleThread } from '../../idle-thread.ts';
import { Damaged } from '../../log/damaged.ts';
import { DeadlineExceeded } from '../../work.ts';
import { type ConnectionThread, closedError } from './connection-thread.ts';
import type { Answers, Job } from './jobs.ts';

export interface ReadersOptions {
  start: () => ConnectionThread;
  /** Whether the disk can be used now. */
  diskAnswers: () => Promise<boolean>;
  /** Runs short reads while there is no reader thread. */
  spare?: Spare;
  /** How many threads there are at most. Long reads leave one thread for other reads. */
  max: number;
  /** How long a read may take before its thread is ended, in milliseconds. */
  deadlineMs?: number;
  /** How long a thread lives without a read, in milliseconds. */
  idleMs?: number;
}

/**
 * How long a read waits before another thread is started for it. After a read of this length on the spare thread, a reader takes
 * over. Each thread needs about 12 MB.
 */
const PATIENCE_MS = 10;
const DEADLINE_MS = 60_000;
const IDLE_MS = 3_000;

/** A thread with other work that can read, too. */
export interface Spare {
  isIdle: boolean;
  run(query: Query): Promise<Answers['query']>;
}

interface QueuedRead {
  isLong: boolean;
  begin: (on: Reader | Spare) => void;
  reject: (error: Error) => void;
}

type Query = Extract<Job, { kind: 'query' }>;
type Reader = IdleThread<ConnectionThread>;

/**
 * A pool of reading threads. They start when they are needed, and end after some time without reads. If there is none, the spare
 * thread reads, so that an idle service needs no reading thread.
 */
export class Readers {
  readonly #spare: Spare | undefined;
  readonly #diskAnswers: () => Promise<boolean>;
  readonly #readers: readonly Reader[];
  readonly #waiting: QueuedRead[] = [];
  #longRunning = 0;
  #isClosed = false;

  constructor({ start, diskAnswers, spare, max, deadlineMs = DEADLINE_MS, idleMs = IDLE_MS }: ReadersOptions) {
    this.#spare = spare;
    this.#diskAnswers = diskAnswers;
    const options = { start, deadlineMs, idleMs, late: tooLong };
    this.#readers = Array.from({ length: max }, () => new IdleThread(options));
  }

  /**
   * Reads on a free thread. SQLite reports a read that the disk refused (EIO) with the code of a damaged page. So a read that met
   * damage is repeated if the disk answers. Only damage that the second read meets is `Damaged`.
   * @param isLong whether the read may be long; long reads wait for each other instead of using the last thread
   * @throws the error of the engine; `Damaged`; an error for status 503 if the thread ended or the read took too long
   */
  async run(query: Query, isLong = false): Promise<Answers['query']> {
    try {
      return await this.#enqueue(query, isLong);
    } catch (error) {
      if (!isDamage(error) || !(await this.#diskAnswers())) throw error;
    }
    return this.#enqueue(query, isLong).catch((error) => {
      throw isDamage(error) ? new Damaged('a part of the file cannot be read', { cause: error }) : error;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closedError());
    await Promise.all(this.#readers.map((reader) => reader.close()));
  }

  #enqueue(query: Query, isLong: boolean): Promise<Answers['query']> {
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const begin = (on: Reader | Spare) =>
        resolve(on instanceof IdleThread ? this.#read(on, query, isLong) : this.#readOn(on, query));
      this.#waiting.push({ isLong, begin, reject });
      if (!this.#hasReader() && (isLong || !this.#spare)) this.#start();
      this.#serve();
      // Another thread is worth its memory only if a read has waited.
      if (this.#next() !== -1 && this.#stopped()) setTimeout(() => this.#help(), PATIENCE_MS);
    });
  }

  #hasReader(): boolean {
    return this.#readers.some((reader) => reader.isStarted);
  }

  #stopped(): Reader | undefined {
    return this.#readers.find((reader) => !reader.isStarted && !reader.isBusy);
  }

  /** The index of the next read; -1 if none may start. */
  #next(): number {
    const isLongFull = this.#longRunning >= Math.max(1, this.#readers.length - 1);
    return this.#waiting.findIndex(({ isLong }) => !isLong || !isLongFull);
  }

  #serve(): void {
    for (const reader of this.#readers) {
      if (!reader.isStarted || reader.isBusy) continue;
      const [next] = this.#waiting.splice(this.#next(), this.#next() === -1 ? 0 : 1);
      next?.begin(reader);
    }
    if (!this.#hasReader() && this.#spare?.isIdle) this.#waiting.shift()?.begin(this.#spare);
  }

  async #read(reader: Reader, query: Query, isLong: boolean): Promise<Answers['query']> {
    if (isLong) this.#longRunning++;
    try {
      return await reader.use((thread) => thread.run(query));
    } finally {
      if (isLong) this.#longRunning--;
      // A thread that has ended is replaced when it is needed.
      if (this.#waiting.length > 0 && !this.#hasReader()) this.#start();
      this.#serve();
    }
  }

  async #readOn(spare: Spare, query: Query): Promise<Answers['query']> {
    const since = performance.now();
    try {
      return await spare.run(query);
    } finally {
      // The spare thread's own work must not wait for further reads after a slow one.
      const isSlow = performance.now() - since > PATIENCE_MS;
      if (isSlow && !this.#hasReader()) this.#start();
      this.#serve();
    }
  }

  #help(): void {
    if (this.#next() === -1) return;
    this.#start();
    this.#serve();
  }

  /** Starts another thread, unless there are as many as there may be. */
  #start(): void {
    if (!this.#isClosed) this.#stopped()?.start();
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB */
const isDamage = (error: unknown) => [11, 26].includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);

/** Has the code of a closed store, so that the response has status 503. */
const tooLong = (ms: number) => Object.assign(new DeadlineExceeded(ms), { code: 'ERR_INVALID_STATE' });
