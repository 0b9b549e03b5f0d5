import { setTimeout as wait } from 'node:timers/promises';
import { Recent } from './recent.ts';
import { asService } from './store/tenant.ts';
import { DeadlineExceeded, Once, Queue, withDeadline } from './work.ts';

export interface BackgroundOptions {
  atOnce: number;
  onError: (error: unknown) => void;
  /** Called for each job that is given up. */
  onGivenUp?: (() => void) | undefined;
  deadlineMs?: number;
  /** For this many milliseconds a job that was given up is not started again, because it would hang again. */
  restMs?: number;
}

export interface JobOptions {
  /** Groups, such as organizations, are served in turn: a group with many jobs does not delay the others. */
  group?: string;
  deadlineMs?: number;
}

/**
 * Long work in slices. It yields after each slice the milliseconds to rest before the next one. It takes no slot while it
 * rests: other jobs have their turn then, and closing can end the work.
 */
export type Slices<Result = void> = AsyncGenerator<number, Result, void>;

/** The most waiting jobs of a group. The queue drops further ones; their callers ask again. */
const MAX_WAITING = 1_000;
/** How long a job may take unless it says otherwise, in milliseconds. */
const DEADLINE_MS = 600_000;
const MAX_RESTING = 1_000;
/** How long closing waits for running jobs to stop. */
const STOP_MS = 5_000;

/** Runs jobs in the background: one at a time for each key, a limited number in all, each with a deadline. */
export class Background {
  readonly #options: BackgroundOptions;
  readonly #queue: Queue;
  readonly #jobs = new Once<void>();
  readonly #sliced = new Once<void>();
  /** The keys of jobs that were given up. */
  readonly #resting = new Recent<true>({ max: MAX_RESTING, now: () => performance.now() });
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: BackgroundOptions) {
    this.#options = options;
    this.#queue = new Queue({ atOnce: options.atOnce });
  }

  /**
   * Starts the job, or joins it if it is running. Resolves when the job has ended, even if it failed, was given up or was
   * dropped.
   * @param work must stop when its signal is aborted
   */
  run(key: string, work: (signal: AbortSignal) => Promise<void>, options: JobOptions = {}): Promise<void> {
    const { group = '' } = options;
    if (!this.#jobs.isRunning(key)) {
      const isFull = this.#queue.waiting(group) >= MAX_WAITING;
      if (isFull || this.#closing.signal.aborted || this.#resting.get(key)) return Promise.resolve();
    }
    return this.#jobs.run(key, () => this.#begin(key, work, options));
  }

  /**
   * Does long work. Each slice is a job with its own turn and deadline. Resolves like `run` when the work has ended. If the
   * work is unfinished then, its generator is returned, unless it hangs.
   */
  slices(key: string, begin: () => Slices, options: JobOptions = {}): Promise<void> {
    return this.#sliced.run(key, async () => {
      const running = this.#inSlices(key, begin(), options);
      this.#running.add(running);
      await running.finally(() => this.#running.delete(running));
    });
  }

  async #inSlices(key: string, work: Slices, options: JobOptions): Promise<void> {
    const { signal } = this.#closing;
    let hangs = false;
    for (let rest: number | undefined = 0; rest !== undefined; ) {
      if (rest > 0) await wait(rest, undefined, { signal, ref: false }).catch(() => undefined);
      rest = undefined;
      await this.run(
        key,
        async () => {
          hangs = true;
          const step = await work.next().finally(() => {
            hangs = false;
          });
          rest = step.done ? undefined : step.value;
        },
        options,
      );
    }
    // Returning a slice that hangs would hang as well.
    if (!hangs) await asService(() => work.return()).catch(this.#options.onError);
  }

  /** Aborted when it is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Starts no more jobs, aborts the running ones, and waits a few seconds for them. */
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
    // The job may work for all organizations, though a request of one of them started it.
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
    this.#resting.set(key, true, restMs);
    onGivenUp?.();
    return new Error(`the job "${key}" was given up`, { cause });
  }
}
