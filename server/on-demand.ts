import { Worker } from 'node:worker_threads';
import { DeadlineExceeded, Queue } from './work.ts';

export interface OnDemandOptions {
  program: URL;
  /** Told by debuggers, logs and figures. */
  name: string;
  workerData?: unknown;
  /** How long the thread may take for one job, in milliseconds, its start included. */
  deadlineMs: number;
  idleMs?: number;
}

/** After how long without a job a thread ends, in milliseconds. */
const IDLE_MS = 30_000;

interface Thread {
  worker: Worker;
  /** What waits for the reply to its job. */
  job?: { resolve: (reply: never) => void; reject: (error: Error) => void } | undefined;
}

/**
 * A thread that is started when there is a job for it, and ends when there was none for a while. It is given one job after
 * the other, so that a job that never ends costs the others its deadline and nothing else.
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
   * @param transfer memory that goes over to the thread when the job begins
   * @throws DeadlineExceeded, or an error when the thread ended before it had replied
   */
  ask(job: Job, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    return this.#queue.run(() => this.#work(job, transfer));
  }

  /** Ends the thread, and begins no other. */
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

  /** The next job is given to another thread. */
  #end(thread: Thread, error: Error): void {
    if (this.#thread === thread) this.#thread = undefined;
    thread.job?.reject(error);
  }
}
