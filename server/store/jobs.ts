import { sql } from 'kysely';
import { newUuid } from '../ids.ts';
import { isOneOf } from './dialect.ts';
import { isPostgres } from './postgres.ts';
import { allRows, changedRows, firstRow } from './rows.ts';
import type { Db, JobRow } from './schema.ts';

/** A job that this process has taken. Its `progress` is stored after each slice that changed it, and by `noteProgress`. */
export interface Job extends Pick<JobRow, 'job_id' | 'organization_id' | 'kind' | 'attempts'> {
  progress: string;
  readonly lease: string;
}

/** Another process has taken the job, or a person has cancelled it. */
export class JobLost extends Error {
  constructor() {
    super('the job was cancelled, or another process has taken it');
  }
}

/** A process loses a job if it does not renew the lease for this long. It is longer than a slice and a pause together. */
const LEASE_MS = 120_000;
/** How often the lease of a waiting job is renewed. The rest of the lease is always longer than a slice and a pause. */
const RENEW_EVERY_MS = 20_000;
/** An embedded store needs no lease: it has no other process, and this process runs a job only once at a time. */
const leaseEnd = (db: Db, now: number) => (isPostgres(db) ? now + LEASE_MS : 0);

/** Stores a job, in the transaction that requests it. */
export const insertJob = (transaction: Db, job: Pick<JobRow, 'job_id' | 'organization_id' | 'kind'>) =>
  sql`
    insert into jobs (job_id, organization_id, kind) values (${job.job_id}, ${job.organization_id}, ${job.kind})`.execute(
    transaction,
  );

/** Lists the jobs of these kinds, of all organizations, that no process works on and that are not waiting. */
export const listDueJobs = (db: Db, kinds: readonly string[], now: number, limit: number) =>
  allRows(
    db,
    sql<JobRow>`
      select * from jobs where not_before <= ${now} and ${isOneOf(db, 'kind', kinds)}
      order by not_before, job_id limit ${limit}`,
  );

/** Takes a job for this process; undefined if another process has it, it is waiting, or it has ended. */
export const takeJob = (db: Db, { job_id, organization_id }: Pick<Job, 'job_id' | 'organization_id'>, now: number) =>
  firstRow(
    db,
    sql<Job>`
      update jobs set lease = ${newUuid(now)}, not_before = ${leaseEnd(db, now)}, attempts = attempts + 1
      where organization_id = ${organization_id} and job_id = ${job_id} and not_before <= ${now}
      returning *`,
  );

/**
 * Stores the progress of a job, and extends the lease of this process.
 * @returns how often the job was taken since it last made progress
 * @throws JobLost
 */
export async function noteProgress(
  db: Db,
  { job_id, organization_id, lease, progress }: Job,
  now: number,
): Promise<number> {
  const noted = await firstRow(
    db,
    sql<Pick<JobRow, 'attempts'>>`
      update jobs set not_before = ${leaseEnd(db, now)}, progress = ${progress},
        attempts = case when progress = ${progress} then attempts else 1 end
      where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}
      returning attempts`,
  );
  if (!noted) throw new JobLost();
  return noted.attempts;
}

/**
 * Keeps a job for this process, and stores new progress. It is called often for a waiting job, so it writes only if the progress
 * changed or the lease needs renewal.
 * @returns as `noteProgress`
 * @throws JobLost
 */
export async function keepJob(db: Db, job: Job, now: number): Promise<number> {
  const { job_id, organization_id, lease, progress } = job;
  const stored = await firstRow(
    db,
    sql<Pick<JobRow, 'attempts' | 'progress' | 'not_before'>>`
      select attempts, progress, not_before from jobs
      where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}`,
  );
  if (!stored) throw new JobLost();
  const isKept = Number(stored.not_before) > leaseEnd(db, now) - RENEW_EVERY_MS;
  return isKept && stored.progress === progress ? stored.attempts : noteProgress(db, job, now);
}

/** Reserves a job of this process until a time, unless it makes progress before. */
export const reserveJob = (db: Db, { job_id, organization_id, lease }: Job, until: number) =>
  sql`
    update jobs set not_before = ${until}
    where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}`.execute(db);

/** Returns a job with its progress, so that a process can take it again. @param notBefore when that is possible */
export const returnJob = (db: Db, { job_id, organization_id, lease, progress }: Job, notBefore: number) =>
  sql`
    update jobs set not_before = ${notBefore}, progress = ${progress}, lease = null
    where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}`.execute(db);

/**
 * Returns a job with its progress because this process closes. Another process can take it at once, and the attempt does not
 * count.
 */
export const returnUntried = (db: Db, { job_id, organization_id, lease, progress }: Job) =>
  sql`
    update jobs set not_before = 0, progress = ${progress}, lease = null, attempts = attempts - 1
    where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}`.execute(db);

/**
 * Ends a job, in the transaction that stores its outcome.
 * @throws JobLost
 */
export async function endJob(transaction: Db, { job_id, organization_id, lease }: Job): Promise<void> {
  const ended = await changedRows(
    transaction,
    sql`delete from jobs where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}`,
  );
  if (ended === 0) throw new JobLost();
}

/** Cancels a job in any process, because its next slice finds that the row is missing. @returns whether the job existed */
export const cancelJob = async (transaction: Db, organizationId: string, jobId: string): Promise<boolean> =>
  (await changedRows(
    transaction,
    sql`delete from jobs where organization_id = ${organizationId} and job_id = ${jobId}`,
  )) > 0;
