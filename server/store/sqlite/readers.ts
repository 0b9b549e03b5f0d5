import { Damaged } from '../../log/damaged.ts';
import { DeadlineExceeded } from '../../work.ts';
import { type ConnectionThread, closedError } from './connection-thread.ts';
import type { Answers, Job } from './jobs.ts';

export interface ReadersOptions {
  start: () => ConnectionThread;
  /** Runs short reads while there is no reader thread. */
  spare?: Spare;
  /** How many threads there are at most. Long reads leave one thread for other reads. */
  most: number;
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

interface Waiting {
  isLong: boolean;
  resolve: (thread: ConnectionThread | Spare) => void;
  reject: (error: Error) => void;
}

type Query = Extract<Job, { kind: 'query' }>;

/**
 * A pool of reading threads. They start when they are needed, and end after some time without reads. If there is none, the spare
 * thread reads, so that an idle service needs no reading thread.
 */
export class Readers {
  readonly #options: ReadersOptions & { deadlineMs: number; idleMs: number };
  readonly #threads = new Set<ConnectionThread>();
  readonly #idle = new Map<ConnectionThread, NodeJS.Timeout>();
  readonly #waiting: Waiting[] = [];
  #longRunning = 0;
  #isClosed = false;

  constructor(options: ReadersOptions) {
    this.#options = { deadlineMs: DEADLINE_MS, idleMs: IDLE_MS, ...options };
  }

  /**
   * Reads on a free thread.
   * @param isLong whether the read may be long; long reads wait for each other instead of using the last thread
   * @throws the error of the engine; `Damaged`; an error for status 503 if the thread ended or the read took too long
   */
  run(query: Query, isLong = false): Promise<Answers['query']> {
    return this.#run(query, isLong).catch((error) => {
      throw isDamage(error) ? new Damaged('a part of the file cannot be read', { cause: error }) : error;
    });
  }

  async #run(query: Query, isLong: boolean): Promise<Answers['query']> {
    const thread = await this.#obtain(isLong);
    if (!('kill' in thread)) return this.#readOn(thread, query);
    const { deadlineMs } = this.#options;
    const deadline = setTimeout(() => thread.kill(tooLong(deadlineMs)), deadlineMs).unref();
    try {
      return await thread.run(query);
    } finally {
      clearTimeout(deadline);
      this.#release(thread, isLong);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#idle.values()) clearTimeout(timer);
    for (const { reject } of this.#waiting.splice(0)) reject(closedError());
    await Promise.all([...this.#threads].map((thread) => thread.close()));
  }

  #obtain(isLong: boolean): Promise<ConnectionThread | Spare> {
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ isLong, resolve, reject });
      if (this.#threads.size === 0 && (isLong || !this.#options.spare)) this.#start();
      this.#serve();
      // Another thread is worth its memory only if a read has waited.
      if (this.#next() !== -1 && this.#threads.size < this.#options.most) setTimeout(() => this.#help(), PATIENCE_MS);
    });
  }

  /** The index of the next read; -1 if none may start. */
  #next(): number {
    const isLongFull = this.#longRunning >= Math.max(1, this.#options.most - 1);
    return this.#waiting.findIndex(({ isLong }) => !isLong || !isLongFull);
  }

  #serve(): void {
    for (const [thread, timer] of this.#idle) {
      const [next] = this.#waiting.splice(this.#next(), this.#next() === -1 ? 0 : 1);
      if (!next) return;
      clearTimeout(timer);
      this.#idle.delete(thread);
      if (next.isLong) this.#longRunning++;
      next.resolve(thread);
    }
    const { spare } = this.#options;
    if (this.#threads.size === 0 && spare?.isIdle) this.#waiting.shift()?.resolve(spare);
  }

  async #readOn(spare: Spare, query: Query): Promise<Answers['query']> {
    const since = performance.now();
    try {
      return await spare.run(query);
    } finally {
      // The spare thread's own work must not wait for further reads after a slow one.
      const isSlow = performance.now() - since > PATIENCE_MS;
      if (isSlow && !this.#isClosed && this.#threads.size === 0) this.#start();
      this.#serve();
    }
  }

  #help(): void {
    if (this.#isClosed || this.#next() === -1 || this.#threads.size >= this.#options.most) return;
    this.#start();
    this.#serve();
  }

  #start(): void {
    const thread = this.#options.start();
    this.#threads.add(thread);
    this.#rest(thread);
  }

  #rest(thread: ConnectionThread): void {
    const end = () => {
      this.#idle.delete(thread);
      this.#threads.delete(thread);
      void thread.close();
    };
    this.#idle.set(thread, setTimeout(end, this.#options.idleMs).unref());
  }

  #release(thread: ConnectionThread, isLong: boolean): void {
    if (isLong) this.#longRunning--;
    if (!thread.isGone || this.#isClosed) this.#rest(thread);
    else {
      // A thread that has ended is replaced when it is needed.
      this.#threads.delete(thread);
      if (this.#waiting.length > 0 && this.#threads.size === 0) this.#start();
    }
    this.#serve();
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB */
const isDamage = ({ errcode = 0 }: { errcode?: number }) => [11, 26].includes(errcode & 0xff);

/** Has the code of a closed store, so that the response has status 503. */
const tooLong = (ms: number) => Object.assign(new DeadlineExceeded(ms), { code: 'ERR_INVALID_STATE' });
