import { sql } from 'kysely';
import { newUuid } from '../ids.ts';
import { isOneOf } from './dialect.ts';
import { isPostgres } from './postgres.ts';
import { allRows, changedRows, firstRow } from './rows.ts';
import type { Db } from './schema.ts';
import type { JobRow } from './schema-governance.ts';

/** A job that this process has. Its `progress` is stored after each slice, and by `noteProgress`. */
export interface Job extends Pick<JobRow, 'job_id' | 'organization_id' | 'kind' | 'attempts'> {
  progress: string;
  readonly lease: string;
}

/** Another process has the job by now, or somebody has cancelled it. */
export class JobLost extends Error {
  constructor() {
    super('the job was cancelled, or is another process’s by now');
  }
}

/** A process that has not noted any progress for this long has lost its jobs. Longer than a slice may take, and a rest. */
const LEASE_MS = 120_000;
/** No other process has an embedded store, and in this one a job runs once at a time. */
const leaseEnd = (db: Db, now: number) => (isPostgres(db) ? now + LEASE_MS : 0);

/** Notes a job, in the transaction that asks for it. */
export const insertJob = (transaction: Db, job: Pick<JobRow, 'job_id' | 'organization_id' | 'kind'>) =>
  sql`
    insert into jobs (job_id, organization_id, kind) values (${job.job_id}, ${job.organization_id}, ${job.kind})`.execute(
    transaction,
  );

/** Those of some kinds, of all organizations, that nobody works on, or waits to work on. */
export const listDueJobs = (db: Db, kinds: readonly string[], now: number, limit: number) =>
  allRows(
    db,
    sql<JobRow>`
      select * from jobs where not_before <= ${now} and ${isOneOf(db, 'kind', kinds)}
      order by not_before, job_id limit ${limit}`,
  );

/** Takes a job for this process; undefined where another one has it, it waits, or it has ended. */
export const takeJob = (db: Db, { job_id, organization_id }: Pick<Job, 'job_id' | 'organization_id'>, now: number) =>
  firstRow(
    db,
    sql<Job>`
      update jobs set lease = ${newUuid(now)}, not_before = ${leaseEnd(db, now)}, attempts = attempts + 1
      where organization_id = ${organization_id} and job_id = ${job_id} and not_before <= ${now}
      returning *`,
  );

/**
 * Stores the progress of a job, and keeps it for this process.
 * @returns how often it was taken since it got further
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

/** Gives a job back, with its progress. @param notBefore when the next process may take it */
export const returnJob = (db: Db, { job_id, organization_id, lease, progress }: Job, notBefore: number) =>
  sql`
    update jobs set not_before = ${notBefore}, progress = ${progress}, lease = null
    where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}`.execute(db);

/**
 * Ends a job, in the transaction that notes what it has come to.
 * @throws JobLost
 */
export async function endJob(transaction: Db, { job_id, organization_id, lease }: Job): Promise<void> {
  const ended = await changedRows(
    transaction,
    sql`delete from jobs where organization_id = ${organization_id} and job_id = ${job_id} and lease = ${lease}`,
  );
  if (ended === 0) throw new JobLost();
}

/** Cancels a job in any process: its next slice finds the row gone. @returns whether it was there */
export const cancelJob = async (transaction: Db, organizationId: string, jobId: string): Promise<boolean> =>
  (await changedRows(
    transaction,
    sql`delete from jobs where organization_id = ${organizationId} and job_id = ${jobId}`,
  )) > 0;
