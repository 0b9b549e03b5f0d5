import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type Asker, DeadlineExceeded, Queue } from './work.ts';

export interface OnDemandOptions {
  program: URL;
  /** Shown by debuggers, logs and metrics. */
  name: string;
  workerData?: unknown;
  /** The most milliseconds for one job, including the start of the thread. */
  deadlineMs: number;
  idleMs?: number;
  closeMs?: number;
}

/**
 * The organization and the person for whom a job is done. No job goes without them, so that one person's jobs cannot hold up
 * another organization's. The signal is aborted once nobody waits for the job.
 */
export type JobAsker = Required<Asker>;

/** The person of jobs that the service does by itself. */
export const SERVICE = 'service';

/**
 * The thread ends after this many milliseconds without a job. The thread for deriving, for example, takes 30 MB of memory and
 * 50 ms of processor time to start, so it outlasts the pauses of an agent at work.
 */
const IDLE_MS = 15_000;

/** The most milliseconds that closing waits for the running job. */
const CLOSE_MS = 5_000;

interface Thread {
  worker: Worker;
  /** The last job that the thread received. */
  job?: PromiseWithResolvers<never>;
}

/**
 * A thread that starts with the first job, and ends after a time without one. It runs one job at a time, and serves
 * organizations and people in turn. A job that hangs therefore delays the others by at most its deadline.
 */
export class OnDemand<Job, Reply> {
  readonly #options: OnDemandOptions;
  readonly #queue = new Queue({ atOnce: 1 });
  #thread: Thread | undefined;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: OnDemandOptions) {
    this.#options = options;
  }

  /**
   * @param transfer memory that moves to the thread when the job starts
   * @throws DeadlineExceeded; the reason of the asker's signal if it is aborted before the job starts; an error if the thread
   * ended before its reply
   */
  ask(job: Job, asker: JobAsker, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    return this.#queue.run(() => this.#work(job, transfer), asker);
  }

  /**
   * Ends the thread for good, after its running job. Node aborts the whole process if a thread ends while it starts to compress
   * or decompress: https://github.com/nodejs/node/blob/v24.x/src/node_zlib.cc, "close before init".
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = this.#thread?.job?.promise.catch(() => undefined);
    await Promise.race([running, pause(this.#options.closeMs ?? CLOSE_MS, undefined, { ref: false })]);
    await this.#stop();
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.worker.terminate();
  }

  async #work(job: Job, transfer: readonly ArrayBuffer[]): Promise<Reply> {
    const { name, deadlineMs, idleMs = IDLE_MS } = this.#options;
    if (this.#isClosed) throw new Error(`the thread "${name}" is closed`);
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    const thread = this.#thread;
    const deadline = setTimeout(() => this.#giveUp(thread), deadlineMs).unref();
    try {
      const reply = Promise.withResolvers<never>();
      // `postMessage` throws if the job cannot be sent; then nobody waits for a reply.
      thread.worker.postMessage(job, [...transfer]);
      thread.job = reply;
      return await reply.promise;
    } finally {
      clearTimeout(deadline);
      this.#idle = setTimeout(() => void this.#stop(), idleMs).unref();
    }
  }

  #start(): Thread {
    const { program, name, workerData } = this.#options;
    const thread: Thread = { worker: new Worker(program, { name, workerData }) };
    thread.worker.on('message', (reply) => thread.job?.resolve(reply));
    thread.worker.on('error', (cause) => this.#end(thread, new Error(`the thread "${name}" failed`, { cause })));
    thread.worker.on('exit', () => this.#end(thread, new Error(`the thread "${name}" ended`)));
    return thread;
  }

  #giveUp(thread: Thread): void {
    this.#end(thread, new DeadlineExceeded(this.#options.deadlineMs));
    void thread.worker.terminate();
  }

  /** The next job starts another thread. */
  #end(thread: Thread, error: Error): void {
    if (this.#thread === thread) this.#thread = undefined;
    thread.job?.reject(error);
  }
}
