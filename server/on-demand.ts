import { Worker } from 'node:worker_threads';
import { DeadlineExceeded, Queue } from './work.ts';

export interface OnDemandOptions {
  program: URL;
  /** Shown by debuggers, logs and metrics. */
  name: string;
  workerData?: unknown;
  /** The most milliseconds for one job, including the start of the thread. */
  deadlineMs: number;
  idleMs?: number;
}

/** Milliseconds without a job after which the thread ends. */
const IDLE_MS = 30_000;

interface Thread {
  worker: Worker;
  /** The promise of the running job. */
  job?: { resolve: (reply: never) => void; reject: (error: Error) => void } | undefined;
}

/**
 * A thread that starts with the first job, and ends after a time without one. It gets one job at a time, so that a job that
 * hangs delays the others by its deadline and no longer.
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
   * @throws DeadlineExceeded, or an error if the thread ended before its reply
   */
  ask(job: Job, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    return this.#queue.run(() => this.#work(job, transfer));
  }

  /** Ends the thread for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
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
      return await new Promise((resolve, reject) => {
        thread.job = { resolve, reject };
        thread.worker.postMessage(job, [...transfer]);
      });
    } finally {
      clearTimeout(deadline);
      this.#idle = setTimeout(() => void this.#stop(), idleMs).unref();
    }
  }

  #start(): Thread {
    const { program, name, workerData } = this.#options;
    const thread: Thread = { worker: new Worker(program, { name, workerData }) };
    thread.worker.on('message', (reply) => thread.job?.resolve(reply as never));
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
