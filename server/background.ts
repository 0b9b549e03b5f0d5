import { asService } from './store/tenant.ts';
import { DeadlineExceeded, Once, Queue, withDeadline } from './work.ts';

export interface BackgroundOptions {
  atOnce: number;
  onError: (error: unknown) => void;
  /** Told of each job that was given up. */
  onGivenUp?: (() => void) | undefined;
  deadlineMs?: number;
  /** For how long a job that was given up is left alone, in milliseconds: it would hang again. */
  restMs?: number;
}

export interface JobOptions {
  /** Groups take turns, such as organizations: however much waits for one, another does not wait for it. */
  group?: string;
  deadlineMs?: number;
}

/** Jobs of a group that wait. Others are dropped, and asked for again by those who need them. */
const MOST_WAITING = 1_000;
/** How long a job may take unless it says otherwise, in milliseconds. */
const DEADLINE_MS = 600_000;
const MOST_RESTING = 1_000;
/** How long closing waits for jobs that were told to stop. */
const STOP_MS = 5_000;

/** Jobs that run beside the answers: each key's one at a time, only some at the same time, and each until its deadline. */
export class Background {
  readonly #options: BackgroundOptions;
  readonly #queue: Queue;
  readonly #jobs = new Once<void>();
  /** Until when jobs that were given up are left alone, by key. */
  readonly #resting = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: BackgroundOptions) {
    this.#options = options;
    this.#queue = new Queue({ atOnce: options.atOnce });
  }

  /**
   * Runs the job unless it runs already. It settles when the job is done, whoever asked for it first; also when the job
   * failed, was given up, or found no room.
   * @param work is told by the signal when it is to stop
   */
  run(key: string, work: (signal: AbortSignal) => Promise<void>, options: JobOptions = {}): Promise<void> {
    const { group = '' } = options;
    if (!this.#jobs.isRunning(key)) {
      const isFull = this.#queue.waiting(group) >= MOST_WAITING;
      if (isFull || this.#closing.signal.aborted || this.#isResting(key)) return Promise.resolve();
    }
    return this.#jobs.run(key, () => this.#begin(key, work, options));
  }

  /** Aborted when it is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Begins nothing more, tells what runs to stop, and waits for it a while. */
  async close(): Promise<void> {
    this.#closing.abort();
    const stopped = Promise.allSettled(this.#running);
    await withDeadline(() => stopped, STOP_MS).catch(this.#options.onError);
  }

  async #begin(
    key: string,
    work: (signal: AbortSignal) => Promise<void>,
    { group = '', deadlineMs = this.#options.deadlineMs ?? DEADLINE_MS }: JobOptions,
  ): Promise<void> {
    const { signal } = this.#closing;
    // Begun for one organization, it goes on to others.
    const running = this.#queue.run(() => withDeadline((stop) => asService(() => work(stop)), deadlineMs, signal), {
      group,
      signal,
    });
    this.#running.add(running);
    try {
      await running;
    } catch (error) {
      if (signal.aborted) return;
      this.#options.onError(error instanceof DeadlineExceeded ? this.#giveUp(key, error) : error);
    } finally {
      this.#running.delete(running);
    }
  }

  #giveUp(key: string, cause: DeadlineExceeded): Error {
    const { restMs = 0, onGivenUp } = this.#options;
    if (this.#resting.size >= MOST_RESTING) this.#resting.clear();
    if (restMs > 0) this.#resting.set(key, performance.now() + restMs);
    onGivenUp?.();
    return new Error(`the job "${key}" was given up`, { cause });
  }

  #isResting(key: string): boolean {
    const until = this.#resting.get(key);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#resting.delete(key);
    return false;
  }
}
