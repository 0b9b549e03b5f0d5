import { Worker } from 'node:worker_threads';
import type { Answers, Job, Replies, Reply, SentError, ThreadOptions } from './jobs.ts';

/** The thread ended by itself, and the state of its last jobs is unknown. Answered 503. */
export class ThreadEnded extends Error {
  readonly code = 'ERR_INVALID_STATE';
}

const PROGRAM = new URL('./connection-program.ts', import.meta.url);

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
  since: number;
}

/** A thread with a connection of its own to the file. */
export class ConnectionThread {
  /** Settled once the file is open. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #onError: (error: Error) => void;
  /** Jobs without a reply, in order. */
  readonly #waiting: Waiting[] = [];
  /** Why it takes no more jobs. */
  #gone: Error | undefined;

  /** @param onError told of each error of the engine, and of a thread that ends by itself */
  constructor(options: ThreadOptions, onError: (error: Error) => void) {
    this.#onError = onError;
    this.#worker = new Worker(PROGRAM, { workerData: options, name: options.readOnly ? 'reader' : 'writer' });
    this.#worker.on('message', (replies: Replies) => {
      for (const reply of replies) this.#settle(reply);
    });
    this.#worker.on('error', (cause) => this.#endUnasked(cause));
    this.#worker.on('exit', () => this.#endUnasked());
    this.ready = this.#expectReply().then(() => undefined);
    this.ready.catch((error) => this.#end(error));
  }

  /** Whether it takes no more jobs. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** Whether it has no job. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** How long its oldest job has been waiting for its reply, in ms. */
  lag(): number {
    return this.#waiting[0] ? performance.now() - this.#waiting[0].since : 0;
  }

  /** Runs jobs in order. Rejects with the engine's error. */
  run<J extends Job>(job: J): Promise<Answers[J['kind']]> {
    if (this.#gone) return Promise.reject(this.#gone);
    this.#worker.postMessage(job, handedOver(job));
    return this.#expectReply() as Promise<never>;
  }

  /** Ends it once its jobs are done. */
  async close(): Promise<void> {
    if (this.#gone) return;
    this.#worker.postMessage({ kind: 'close' } satisfies Job);
    this.#gone = closedError();
    await this.#expectReply().catch(() => undefined);
    await this.#worker.terminate();
  }

  /** Rejects its jobs with the error, and ends it behind the statement that runs: SQLite's cannot be interrupted. */
  kill(error: Error): void {
    this.#end(error);
    void this.#worker.terminate();
  }

  #expectReply(): Promise<unknown> {
    return new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject, since: performance.now() }));
  }

  #settle(reply: Reply): void {
    const first = this.#waiting.shift();
    if ('answer' in reply) {
      first?.resolve(reply.answer);
      return;
    }
    const error = toError(reply.error);
    this.#onError(error);
    first?.reject(error);
  }

  #endUnasked(cause?: Error): void {
    const isAsked = this.#gone !== undefined;
    const error = this.#gone ?? new ThreadEnded('a thread of the store ended', { cause });
    this.#end(error);
    if (!isAsked) this.#onError(error);
  }

  #end(error: Error): void {
    this.#gone ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** Memory that goes over to the thread; what is small is copied in less time than it takes to hand it over. */
function handedOver(job: Job): ArrayBuffer[] {
  const body = job.kind === 'change' ? job.change.frame?.body : undefined;
  return body && body.byteLength >= SMALLEST_HANDED_OVER ? [body.buffer] : [];
}

const SMALLEST_HANDED_OVER = 32 * 1024;

const toError = ({ message, ...rest }: SentError) => Object.assign(new Error(message), rest);

/** As `node:sqlite` says it of a connection that is closed. */
export const closedError = () => Object.assign(new Error('the store is closed'), { code: 'ERR_INVALID_STATE' });
