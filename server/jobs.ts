import type { Background, Slices } from './background.ts';
import { damagedSessionOf } from './log/damaged.ts';
import {
  endJob,
  type Job,
  JobLost,
  keepJob,
  listDueJobs,
  reserveJob,
  returnJob,
  returnUntried,
  takeJob,
} from './store/jobs.ts';
import type { Db, JobRow } from './store/schema.ts';

/** Defines the work of one kind of job. */
export interface JobKind {
  /**
   * Does a job in slices, starting at its progress, and stores in `job.progress` how far it is. Each write shares a transaction
   * with `noteProgress` or `endJob`, so that only one process at a time writes.
   */
  work: (job: Job) => Slices;
  /** Ends a job that cannot be done, and records the failure for the person who requested it. */
  fail: (job: Job) => Promise<void>;
}

/** An error that a retry cannot fix: the job has failed. */
export class Unrepairable extends Error {}

type Named = Pick<JobRow, 'job_id' | 'organization_id' | 'kind'>;

export interface JobsOptions {
  db: Db;
  background: Pick<Background, 'slices'>;
  now: () => number;
  onError: (error: unknown) => void;
}

/** How long a slice may take, in milliseconds. */
export const SLICE_DEADLINE_MS = 60_000;
/** How long a job waits after a failed attempt. The wait doubles each time, up to an hour. */
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [60_000, 3_600_000];
/** The waits of 30 attempts add up to about a day, which is longer than most outages. */
const MAX_ATTEMPTS = 30;
const LISTED_AT_ONCE = 100;

/**
 * Does long work in the background, slice by slice. A restart loses nothing, and other work runs between slices.
 *
 * | a job   | when                                            | becomes                                          |
 * | ------- | ----------------------------------------------- | ------------------------------------------------ |
 * | –       | somebody requests it: `insertJob`               | waiting                                          |
 * | waiting | a process takes it                              | running, under that process's lease              |
 * | running | a slice is done                                 | running, with its progress                       |
 * | running | its process is killed, or a slice hangs         | waiting, when the lease expires; later each time |
 * | running | its process closes                              | waiting; this attempt does not count             |
 * | running | an error                                        | waiting; the wait doubles each time              |
 * | running | `Unrepairable`, or 30 attempts without progress | gone; its kind records the failure               |
 * | running | its events are damaged                          | gone; its kind records the failure               |
 * | running | its work is done                                | gone                                             |
 * | any     | somebody cancels it: `cancelJob`                | gone; a running slice writes nothing more        |
 */
export class Jobs {
  readonly #options: JobsOptions;
  readonly #kinds = new Map<string, JobKind>();

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  register(name: string, kind: JobKind): void {
    this.#kinds.set(name, kind);
  }

  /** Starts a job, or joins it if it is running. Settles when the job has ended, or waits for another attempt. */
  start(row: Named): Promise<void> {
    const { background } = this.#options;
    const options = { group: row.organization_id, deadlineMs: SLICE_DEADLINE_MS };
    return background.slices(`job ${row.job_id}`, () => this.#run(row), options);
  }

  /** Starts the jobs that another process left behind, and those that have waited long enough. */
  async resume(): Promise<void> {
    const { db, now } = this.#options;
    // Jobs that only another version knows would crowd the others out of the list.
    const kinds = [...this.#kinds.keys()];
    for (const row of await listDueJobs(db, kinds, now(), LISTED_AT_ONCE)) void this.start(row);
  }

  async *#run(row: Named): Slices {
    const { db, now } = this.#options;
    // Replicas of another version may know other kinds.
    const kind = this.#kinds.get(row.kind);
    const job = kind && (await takeJob(db, row, now()));
    if (!job) return;
    if (job.attempts > MAX_ATTEMPTS) {
      const error = new Error(`it neither ended nor made progress in ${MAX_ATTEMPTS} attempts`);
      return this.#failed(job, kind, error).catch(unlessLost);
    }
    // Otherwise a service that restarts every few seconds would use up all attempts within minutes.
    if (job.attempts > 1) await reserveJob(db, job, now() + waitAfter(job.attempts));
    let hasEnded = false;
    const work = kind.work(job);
    try {
      for (let step = await work.next(); !step.done; step = await work.next()) {
        job.attempts = await keepJob(db, job, now());
        yield step.value;
      }
      hasEnded = true;
      await endJob(db, job).catch(unlessLost);
    } catch (error) {
      hasEnded = true;
      if (!(error instanceof JobLost)) await this.#failed(job, kind, error).catch(unlessLost);
    } finally {
      await work.return();
      // The service is closing: the next process can take the job at once.
      if (!hasEnded) await returnUntried(db, job);
    }
  }

  async #failed(job: Job, kind: JobKind, error: unknown): Promise<void> {
    const { db, now, onError } = this.#options;
    onError(new Error(`the job ${job.job_id} failed`, { cause: error }));
    // The slice may have noted progress before its error.
    const attempts = await keepJob(db, job, now());
    const isHopeless = error instanceof Unrepairable || damagedSessionOf(error) !== undefined;
    if (isHopeless || attempts >= MAX_ATTEMPTS) return kind.fail(job);
    await returnJob(db, job, now() + waitAfter(attempts));
  }
}

const waitAfter = (attempts: number) => Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1));

function unlessLost(error: unknown): void {
  if (!(error instanceof JobLost)) throw error;
}
