import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { IdleThread, type Thread } from './idle-thread.ts';
import { type Asker, Queue } from './work.ts';

export interface IdleWorkerOptions {
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
 * The organization and the person for whom a job is done. No job goes without them, so that one person's jobs cannot delay
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

/**
 * Runs a program on a thread that starts with the first job, and ends after a time without one. It runs one job at a time, and
 * serves organizations and people in turn. A job that hangs therefore delays the others by at most its deadline.
 */
export class IdleWorker<Job, Reply> {
  readonly #name: string;
  readonly #queue = new Queue({ atOnce: 1 });
  readonly #thread: IdleThread<JobThread<Job, Reply>>;
  #isClosed = false;

  constructor(options: IdleWorkerOptions) {
    const { name, deadlineMs, idleMs = IDLE_MS } = options;
    this.#name = name;
    this.#thread = new IdleThread({ start: () => new JobThread(options), deadlineMs, idleMs });
  }

  /**
   * @param transfer memory that moves to the thread when the job starts
   * @throws DeadlineExceeded; the reason of the asker's signal if it is aborted before the job starts; an error if the thread
   * ended before its reply
   */
  ask(job: Job, asker: JobAsker, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    return this.#queue.run(async () => {
      if (this.#isClosed) throw new Error(`the thread "${this.#name}" is closed`);
      return this.#thread.use((thread) => thread.run(job, transfer));
    }, asker);
  }

  /** Ends the thread for good, after its running job. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#thread.close();
  }
}

/** A thread that runs the program. */
class JobThread<Job, Reply> implements Thread {
  readonly #worker: Worker;
  readonly #closeMs: number;
  /** The reply to the last job. */
  #reply: PromiseWithResolvers<Reply> | undefined;
  #isGone = false;

  constructor({ program, name, workerData, closeMs = CLOSE_MS }: IdleWorkerOptions) {
    this.#closeMs = closeMs;
    this.#worker = new Worker(program, { name, workerData });
    this.#worker.on('message', (reply: Reply) => this.#reply?.resolve(reply));
    this.#worker.on('error', (cause) => this.#end(new Error(`the thread "${name}" failed`, { cause })));
    this.#worker.on('exit', () => this.#end(new Error(`the thread "${name}" ended`)));
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  run(job: Job, transfer: readonly ArrayBuffer[]): Promise<Reply> {
    // `postMessage` throws if the job cannot be sent; then nobody waits for a reply.
    this.#worker.postMessage(job, [...transfer]);
    this.#reply = Promise.withResolvers();
    return this.#reply.promise;
  }

  kill(error: Error): void {
    this.#end(error);
    void this.#worker.terminate();
  }

  /**
   * Ends after the running job, because Node aborts the whole process if a thread ends while it starts to compress or decompress:
   * https://github.com/nodejs/node/blob/v24.x/src/node_zlib.cc, "close before init".
   */
  async close(): Promise<void> {
    const running = this.#reply?.promise.catch(() => undefined);
    await Promise.race([running, pause(this.#closeMs, undefined, { ref: false })]);
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#isGone = true;
    this.#reply?.reject(error);
  }
}
