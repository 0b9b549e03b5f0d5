import { sql } from 'kysely';
import type { MaskRun, RunOutcome } from '../../../contract/mask.ts';
import { Problem } from '../../../contract/problem.ts';
import { newId } from '../../ids.ts';
import { recordAction } from '../../store/audit.ts';
import { person } from '../../store/audit-chain.ts';
import { toTimestamp } from '../../store/columns.ts';
import { cancelJob, endJob, insertJob, type Job, noteProgress } from '../../store/jobs.ts';
import { lockOrganization } from '../../store/quotas.ts';
import { allRows, firstRow, oneRow } from '../../store/rows.ts';
import type { Db, MaskRunRow, SessionRow } from '../../store/schema.ts';
import { readable, type Viewer } from '../../store/viewer.ts';

/** How many runs may be running at the same time. It is limited because each run reads all sessions. */
const MOST_RUNNING = 3;
const MOST_LISTED = 100;

export interface NewMaskRun {
  runId: string;
  organizationId: string;
  userId: string;
  isDry: boolean;
  sealed: string;
}

/** @throws Problem `quota_reached` */
export const insertMaskRun = (
  db: Db,
  { runId, organizationId, userId, isDry, sealed }: NewMaskRun,
  now: number,
): Promise<MaskRunRow> =>
  db.transaction().execute(async (transaction) => {
    await lockOrganization(transaction, organizationId);
    const { count } = await oneRow(
      transaction,
      sql<{ count: number | string }>`
        select count(*) as count from mask_runs where organization_id = ${organizationId} and finished_at is null`,
    );
    if (Number(count) >= MOST_RUNNING) throw tooMany();
    const row = await oneRow(
      transaction,
      sql<MaskRunRow>`
        insert into mask_runs (run_id, organization_id, sealed, is_dry, requested_by, requested_at)
        values (${runId}, ${organizationId}, ${sealed}, ${isDry ? 1 : 0}, ${userId}, ${now})
        returning *`,
    );
    await insertJob(transaction, jobOfRun(row));
    await record(transaction, row, 'organization.mask_requested', now);
    return row;
  });

const tooMany = () =>
  new Problem(
    'quota_reached',
    `At most ${MOST_RUNNING} texts are masked in all sessions at once. Wait until one ends.`,
  );

export const newMaskRunId = (now: number): string => newId('mrn', now);

/** The kind of the jobs that mask a text in all sessions. Their progress is the last session that was read. */
export const RUN_JOB = 'mask run';
export const jobOfRun = ({ run_id, organization_id }: MaskRunRow) => ({
  job_id: run_id,
  organization_id,
  kind: RUN_JOB,
});

export const findMaskRun = (db: Db, organizationId: string, runId: string) =>
  firstRow(
    db,
    sql<MaskRunRow>`select * from mask_runs where organization_id = ${organizationId} and run_id = ${runId}`,
  );

/** The next session that the viewer may read, among those that were opened before the run was requested. */
export const findNextOfRun = (db: Db, viewer: Viewer, { requested_at }: MaskRunRow, after: string) =>
  firstRow(
    db,
    sql<SessionRow>`
      select * from sessions
      where organization_id = ${viewer.organizationId} and session_id > ${after} and deleted_at is null
        and created_at <= ${requested_at} and ${readable(viewer)}
      order by session_id limit 1`,
  );

/** The contribution of one session to a run. */
export interface RunStep {
  sessionId: string;
  /** Why the session was left out. */
  leftOut?: 'held' | 'damaged' | undefined;
  events: number;
  places: number;
  fields: number;
}

/**
 * Records that a session was read: in the figures of the run, and as the progress of its job.
 * @throws JobLost
 */
export async function advanceMaskRun(transaction: Db, job: Job, step: RunStep, now: number): Promise<void> {
  const { sessionId, leftOut, events, places, fields } = step;
  const isFound = events + fields > 0;
  await noteProgress(transaction, { ...job, progress: sessionId }, now);
  await sql`
    update mask_runs set sessions = sessions + ${leftOut ? 0 : 1}, held = held + ${leftOut === 'held' ? 1 : 0},
      damaged = damaged + ${leftOut === 'damaged' ? 1 : 0},
      found = found + ${isFound ? 1 : 0}, events = events + ${events}, places = places + ${places},
      fields = fields + ${fields}
    where organization_id = ${job.organization_id} and run_id = ${job.job_id}`.execute(transaction);
}

/**
 * Ends a run, and deletes its text.
 * @throws JobLost
 */
export const finishMaskRun = (db: Db, job: Job, outcome: 'done' | 'stopped' | 'failed', now: number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    await endJob(transaction, job);
    await endRun(transaction, job.organization_id, job.job_id, outcome, now);
  });

/**
 * Cancels a running run of a person, and deletes its text. An ended run stays as it is.
 * @returns undefined if this person has no such run
 */
export const cancelMaskRun = (
  db: Db,
  { organizationId, userId, runId }: Pick<NewMaskRun, 'organizationId' | 'userId' | 'runId'>,
  now: number,
): Promise<MaskRunRow | undefined> =>
  db.transaction().execute(async (transaction) => {
    const run = await findMaskRun(transaction, organizationId, runId);
    if (run?.requested_by !== userId) return undefined;
    if (!(await cancelJob(transaction, organizationId, runId))) return run;
    await endRun(transaction, organizationId, runId, 'cancelled', now);
    return findMaskRun(transaction, organizationId, runId);
  });

async function endRun(transaction: Db, organizationId: string, runId: string, outcome: RunOutcome, now: number) {
  const ended = await firstRow(
    transaction,
    sql<MaskRunRow>`
      update mask_runs set finished_at = ${now}, outcome = ${outcome}, sealed = null
      where organization_id = ${organizationId} and run_id = ${runId} and finished_at is null
      returning *`,
  );
  if (ended) await record(transaction, ended, 'organization.masked', now);
}

/** Lists the runs of one person only, because their counts reveal sessions that only this person may read. */
export const listMaskRuns = (db: Db, organizationId: string, userId: string) =>
  allRows(
    db,
    sql<MaskRunRow>`
      select * from mask_runs where organization_id = ${organizationId} and requested_by = ${userId}
      order by run_id desc limit ${MOST_LISTED}`,
  );

/** Records no figures, because other admins read the log, and the figures count sessions that they may not see. */
const record = (
  transaction: Db,
  { organization_id, run_id, requested_by, is_dry, outcome }: MaskRunRow,
  action: 'organization.mask_requested' | 'organization.masked',
  now: number,
) =>
  recordAction(
    transaction,
    organization_id,
    {
      actor: person(requested_by),
      action,
      target: { kind: 'organization', id: organization_id },
      details: { run: run_id, dryRun: is_dry === 1, ...(outcome !== null && { outcome }) },
    },
    now,
  );

export const toMaskRun = (row: MaskRunRow): MaskRun => ({
  runId: row.run_id,
  by: row.requested_by,
  requestedAt: toTimestamp(row.requested_at),
  dryRun: row.is_dry === 1,
  ...(row.finished_at !== null && { finishedAt: toTimestamp(row.finished_at) }),
  ...(row.outcome !== null && { outcome: row.outcome }),
  sessions: Number(row.sessions),
  found: Number(row.found),
  held: Number(row.held),
  damaged: Number(row.damaged),
  events: Number(row.events),
  places: Number(row.places),
  fields: Number(row.fields),
});
