import { DeadlineExceeded } from './work.ts';

/** A thread that somebody else runs. */
export interface Thread {
  /** Whether it accepts no more jobs. */
  readonly isGone: boolean;
  /** Rejects its jobs with the error, and ends it. */
  kill(error: Error): void;
  /** Ends it after its running jobs. */
  close(): Promise<void>;
}

export interface IdleThreadOptions<Kind extends Thread> {
  start: () => Kind;
  /** The most milliseconds for one job, including the start of the thread. */
  deadlineMs: number;
  /** The thread ends after this many milliseconds without a job. */
  idleMs: number;
  /** The error of a job that passes the deadline. */
  late?: (ms: number) => Error;
}

/** A thread that starts when it is needed, and ends after a time without a job. A job that passes its deadline ends it, too. */
export class IdleThread<Kind extends Thread> {
  readonly #options: IdleThreadOptions<Kind>;
  #thread: Kind | undefined;
  #isBusy = false;
  #idle: NodeJS.Timeout | undefined;
  /** Resolves when the thread that was idle has ended. */
  #ending: Promise<void> | undefined;

  constructor(options: IdleThreadOptions<Kind>) {
    this.#options = options;
  }

  get isStarted(): boolean {
    return this.#thread !== undefined && !this.#thread.isGone;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Starts the thread, if it is not running, before there is a job for it. */
  start(): void {
    if (!this.#isBusy) this.#rest(this.#obtain());
  }

  /** Runs a job on the thread. The caller runs one job at a time. */
  async use<Result>(job: (thread: Kind) => Promise<Result>): Promise<Result> {
    const { deadlineMs, late = (ms) => new DeadlineExceeded(ms) } = this.#options;
    const thread = this.#obtain();
    clearTimeout(this.#idle);
    this.#isBusy = true;
    const deadline = setTimeout(() => thread.kill(late(deadlineMs)), deadlineMs).unref();
    try {
      return await job(thread);
    } finally {
      clearTimeout(deadline);
      this.#isBusy = false;
      this.#rest(thread);
    }
  }

  /** Ends the thread. The caller gives it no more jobs. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await Promise.all([this.#ending, this.#thread?.close()]);
  }

  /** A thread that has ended is replaced. */
  #obtain(): Kind {
    if (this.#thread === undefined || this.#thread.isGone) this.#thread = this.#options.start();
    return this.#thread;
  }

  #rest(thread: Kind): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#thread === thread) this.#thread = undefined;
      this.#ending = thread.close();
    }, this.#options.idleMs).unref();
  }
}
