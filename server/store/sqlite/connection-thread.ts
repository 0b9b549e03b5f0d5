import { Worker } from 'node:worker_threads';
import type { Answers, Job, Replies, Reply, SentError, ThreadOptions } from './jobs.ts';

/** The thread ended by itself, so the state of its last jobs is unknown. The response has status 503. */
export class ThreadEnded extends Error {
  readonly code = 'ERR_INVALID_STATE';
}

const PROGRAM = new URL('./connection-program.ts', import.meta.url);

interface Waiting {
  kind: Job['kind'] | undefined;
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
  since: number;
}

/** A thread with its own connection to the file. */
export class ConnectionThread {
  /** Resolves once the file is open; rejects if it cannot be opened. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #onError: (error: Error) => void;
  /** The jobs without a reply, in order. */
  readonly #waiting: Waiting[] = [];
  /** Why it accepts no more jobs. */
  #gone: Error | undefined;

  /** @param onError called for each error of the engine except in reads, and when the thread ends by itself */
  constructor(options: ThreadOptions, onError: (error: Error) => void) {
    this.#onError = onError;
    this.#worker = new Worker(PROGRAM, { workerData: options, name: options.role });
    this.#worker.on('message', (replies: Replies) => {
      for (const reply of replies) this.#settle(reply);
    });
    this.#worker.on('error', (cause) => this.#endUnasked(cause));
    this.#worker.on('exit', () => this.#endUnasked());
    this.ready = this.#expectReply().then(() => undefined);
    this.ready.catch((error) => this.#end(error));
  }

  /** Whether it accepts no more jobs. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** Whether it has no job. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** How long its oldest job has been waiting for the reply, in milliseconds. */
  lag(): number {
    return this.#waiting[0] ? performance.now() - this.#waiting[0].since : 0;
  }

  /** Runs a job after the earlier ones. Rejects with the error of the engine. */
  run<J extends Job>(job: J): Promise<Answers[J['kind']]> {
    if (this.#gone) return Promise.reject(this.#gone);
    this.#worker.postMessage(job, handedOver(job));
    return this.#expectReply(job.kind) as Promise<never>;
  }

  /** Ends the thread once its jobs are done. */
  async close(): Promise<void> {
    if (this.#gone) return;
    this.#worker.postMessage({ kind: 'close' } satisfies Job);
    this.#gone = closedError();
    await this.#expectReply().catch(() => undefined);
    await this.#worker.terminate();
  }

  /** Rejects its jobs with the error, and ends the thread after the running statement, which SQLite cannot interrupt. */
  kill(error: Error): void {
    this.#end(error);
    void this.#worker.terminate();
  }

  #expectReply(kind?: Job['kind']): Promise<unknown> {
    const since = performance.now();
    return new Promise((resolve, reject) => void this.#waiting.push({ kind, resolve, reject, since }));
  }

  #settle(reply: Reply): void {
    const first = this.#waiting.shift();
    if ('answer' in reply) {
      first?.resolve(reply.answer);
      return;
    }
    const error = toError(reply.error);
    if (first?.kind !== 'read') this.#onError(error);
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

/** The memory that is transferred to the thread. Small memory is not, because copying it takes less time. */
function handedOver(job: Job): ArrayBuffer[] {
  const body = job.kind === 'change' ? job.change.frame?.body : undefined;
  return body && body.byteLength >= MIN_HANDED_OVER ? [body.buffer] : [];
}

const MIN_HANDED_OVER = 32 * 1024;

const toError = ({ message, ...rest }: SentError) => Object.assign(new Error(message), rest);

/** The same error that `node:sqlite` throws for a closed connection. */
export const closedError = () => Object.assign(new Error('the store is closed'), { code: 'ERR_INVALID_STATE' });
