import { sql } from 'kysely';
import type { MaskOutcome, MaskReceipt, MaskRun, RunOutcome } from '../../../contract/mask.ts';
import { Problem } from '../../../contract/problem.ts';
import { newId } from '../../ids.ts';
import type { SessionKey } from '../../log/decide.ts';
import { recordAction } from '../../store/audit.ts';
import { type Happened, person } from '../../store/audit-chain.ts';
import { toTimestamp } from '../../store/columns.ts';
import { claimSession } from '../../store/derived.ts';
import { removeChunk, removeFacts } from '../../store/derived-removal.ts';
import { forShare, forUpdate } from '../../store/dialect.ts';
import { cancelJob, endJob, insertJob, type Job, noteProgress } from '../../store/jobs.ts';
import { lockOrganization } from '../../store/quotas.ts';
import { allRows, firstRow, oneRow } from '../../store/rows.ts';
import type { Db, MaskRow, SessionRow } from '../../store/schema.ts';
import { type SessionTexts, TEXT_COLUMNS } from '../../store/session-columns.ts';
import { findHoldOf, preventHolds } from '../holds.ts';

/** A mask of one session, which is also the receipt of it. */
export type SessionMask = MaskRow & { session_id: string; mark: string; outcome: MaskOutcome | null };
/** A mask of all sessions that its requester may read: a run. */
export type MaskOfAll = MaskRow & { session_id: null; outcome: RunOutcome | null };

export const isOfSession = (mask: MaskRow): mask is SessionMask => mask.session_id !== null;

interface Requested {
  maskId: string;
  organizationId: string;
  /** The requester. */
  userId: string;
  sealed: string;
}

/** A request to mask a text in a session. */
export interface NewMask extends Omit<Requested, 'maskId'>, SessionKey {
  mark: string;
  /** How many events were acknowledged at the request. */
  acceptedEvents: number;
}

/** A request to mask or count a text in all sessions that the requester may read. */
export interface NewMaskOfAll extends Requested {
  isDry: boolean;
}

const MAX_LISTED_OF_SESSION = 500;
const MAX_LISTED_OF_ALL = 100;
/** How many masks of all sessions may run at the same time. It is limited because each of them reads all sessions. */
const MAX_RUNNING = 3;

/** Replaces the sealed text when a scan requests to mask the findings of the current rules. */
export const TODAYS_RULES = 'rules';
/** The requester of such masks. */
const SERVICE = 'service';

/** The session is held, so nothing of it is masked. */
export class MaskHeld extends Error {
  readonly holdId: string;

  constructor(holdId: string) {
    super('a hold keeps the session');
    this.holdId = holdId;
  }
}

/** The kind of the jobs that mask. */
export const MASK_JOB = 'mask';
export const jobOf = ({ mask_id, organization_id }: MaskRow) => ({ job_id: mask_id, organization_id, kind: MASK_JOB });

/**
 * Stores a request to mask a text in a session and its job, so that another process can continue it.
 * @param along writes more in the same transaction
 * @throws MaskHeld; Problem `content_withheld`
 */
export const insertMask = (
  db: Db,
  mask: NewMask,
  now: number,
  along?: (transaction: Db) => Promise<void>,
): Promise<SessionMask> =>
  db
    .transaction()
    // Only a request by the rules can be there already.
    .execute(async (transaction) => (await insertOfSession(transaction, mask, now, along)) as SessionMask);

/**
 * Requests, in a transaction, to mask a session by the current rules.
 * @returns false if an earlier request is not done yet
 * @throws MaskHeld; Problem `content_withheld`
 */
export async function askByRules(
  transaction: Db,
  { organizationId, sessionId, eventCount }: SessionKey & { eventCount: number },
  now: number,
): Promise<boolean> {
  const byRules = { userId: SERVICE, mark: '[REDACTED:…]', sealed: TODAYS_RULES, acceptedEvents: eventCount };
  return (await insertOfSession(transaction, { organizationId, sessionId, ...byRules }, now)) !== undefined;
}

async function insertOfSession(
  transaction: Db,
  mask: NewMask,
  now: number,
  along?: (transaction: Db) => Promise<void>,
): Promise<MaskRow | undefined> {
  const { organizationId, sessionId } = mask;
  await assertUnheld(transaction, { organizationId, sessionId });
  await assertHasContent(transaction, { organizationId, sessionId });
  return insert(transaction, { ...mask, maskId: newId('msk', now), isDry: false }, now, along);
}

export const newMaskOfAllId = (now: number): string => newId('mrn', now);

/**
 * Stores a request to mask or count a text in all sessions, and its job.
 * @throws Problem `quota_reached`
 */
export const insertMaskOfAll = (db: Db, mask: NewMaskOfAll, now: number): Promise<MaskOfAll> =>
  db.transaction().execute(async (transaction) => {
    const { organizationId } = mask;
    await lockOrganization(transaction, organizationId);
    const { count } = await oneRow(
      transaction,
      sql<{ count: number | string }>`
        select count(*) as count from masks
        where organization_id = ${organizationId} and session_id is null and finished_at is null`,
    );
    if (Number(count) >= MAX_RUNNING) {
      throw new Problem(
        'quota_reached',
        `At most ${MAX_RUNNING} texts are masked in all sessions at once. Wait until one ends.`,
      );
    }
    const ofAll = { ...mask, sessionId: null, mark: null, acceptedEvents: 0 };
    return (await insert(transaction, ofAll, now)) as MaskOfAll;
  });

type Inserted = NewMaskOfAll & { sessionId: string | null; mark: string | null; acceptedEvents: number };

/** @returns undefined if the session waits for a mask by the rules already */
async function insert(
  transaction: Db,
  { maskId, organizationId, sessionId, userId, mark, sealed, isDry, acceptedEvents }: Inserted,
  now: number,
  along?: (transaction: Db) => Promise<void>,
): Promise<MaskRow | undefined> {
  const row = await firstRow(
    transaction,
    sql<MaskRow>`
      insert into masks
        (mask_id, organization_id, session_id, mark, sealed, is_dry, requested_by, requested_at, accepted_events)
      values
        (${maskId}, ${organizationId}, ${sessionId}, ${mark}, ${sealed}, ${isDry ? 1 : 0}, ${userId}, ${now},
          ${acceptedEvents})
      on conflict do nothing
      returning *`,
  );
  if (!row) return undefined;
  await insertJob(transaction, jobOf(row));
  // This comes before the audit log, in the order in which a cancellation takes its locks.
  await along?.(transaction);
  await record(transaction, row, now);
  return row;
}

/** Prevents a hold on the session until the transaction ends. @throws MaskHeld */
export async function assertUnheld(transaction: Db, place: SessionKey): Promise<void> {
  await preventHolds(transaction, place.organizationId);
  const holdId = await findHoldOf(transaction, place);
  if (holdId !== undefined) throw new MaskHeld(holdId);
}

/** Prevents the expiry of the session's content until the transaction ends. @throws Problem `content_withheld` */
async function assertHasContent(transaction: Db, { organizationId, sessionId }: SessionKey): Promise<void> {
  const session = await firstRow(
    transaction,
    sql`
      select 1 from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId} and content_expired_at is null
        and deleted_at is null
      ${forShare(transaction)}`,
  );
  if (!session) throw new Problem('content_withheld', 'The content of this session was removed meanwhile.');
}

export const findMask = (db: Db, organizationId: string, maskId: string) =>
  firstRow(db, sql<MaskRow>`select * from masks where organization_id = ${organizationId} and mask_id = ${maskId}`);

/** Lists the masks of a session, latest first. */
export const listMasks = (db: Db, { organizationId, sessionId }: SessionKey) =>
  allRows(
    db,
    sql<SessionMask>`
      select * from masks where organization_id = ${organizationId} and session_id = ${sessionId}
      order by mask_id desc limit ${MAX_LISTED_OF_SESSION}`,
  );

/** Lists the masks of all sessions of one person only, because their counts reveal sessions that only this person may read. */
export const listMasksOfAll = (db: Db, organizationId: string, userId: string) =>
  allRows(
    db,
    sql<MaskOfAll>`
      select * from masks
      where organization_id = ${organizationId} and session_id is null and requested_by = ${userId}
      order by mask_id desc limit ${MAX_LISTED_OF_ALL}`,
  );

/** Lists the masks of all organizations by the rules, which scans requested, that are not done. */
export const listMasksByRules = (db: Db, limit: number) =>
  allRows(
    db,
    sql<MaskKey>`
      select organization_id, mask_id from masks
      where finished_at is null and sealed = ${TODAYS_RULES} order by mask_id limit ${limit}`,
  );

/** The contribution of one session to a mask of all sessions. */
export interface SessionCounts {
  sessionId: string;
  /** Why the mask missed the session. */
  missed?: 'held' | 'damaged' | undefined;
  events: number;
  places: number;
  fields: number;
}

/**
 * Records that a session was read: in the figures of a mask of all sessions, and as the progress of its job.
 * @throws JobLost
 */
export async function addSession(transaction: Db, job: Job, session: SessionCounts, now: number): Promise<void> {
  const { sessionId, missed, events, places, fields } = session;
  const isFound = events + fields > 0;
  await noteProgress(transaction, { ...job, progress: sessionId }, now);
  await sql`
    update masks set sessions = sessions + ${missed ? 0 : 1}, held = held + ${missed === 'held' ? 1 : 0},
      damaged = damaged + ${missed === 'damaged' ? 1 : 0},
      found = found + ${isFound ? 1 : 0}, events = events + ${events}, places = places + ${places},
      fields = fields + ${fields}
    where organization_id = ${job.organization_id} and mask_id = ${job.job_id}`.execute(transaction);
}

/**
 * Ends a mask: masks the session's own fields, and removes its derived rows, so that they are derived again.
 * @param own the session's own fields before and after masking; undefined: there was no session
 * @returns false, without ending the mask, if the fields have changed meanwhile
 * @throws MaskHeld; JobLost
 */
export async function finishMask(
  db: Db,
  job: Job,
  { organization_id: organizationId, session_id: sessionId, mask_id }: SessionMask,
  own: { before: SessionTexts; fields: SessionTexts; places: number } | undefined,
  now: number,
): Promise<boolean> {
  const found = await findMask(db, organizationId, mask_id);
  // One chunk at a time, so that others do not wait for long. Chunks that are written meanwhile are removed at the end.
  if (Number(found?.places) > 0) while (await removeChunk(db, organizationId, sessionId));
  return db.transaction().execute(async (transaction) => {
    await assertUnheld(transaction, { organizationId, sessionId });
    const session = await lockSession(transaction, { organizationId, sessionId });
    if (session && TEXT_COLUMNS.some((name) => session[name] !== own?.before[name])) return false;
    const places = session && own ? own.places : 0;
    const isChanged = places > 0 || Number(found?.places) > 0;
    if (session && own && isChanged) {
      const { fields } = own;
      await sql`
        update sessions set ${sql.join(TEXT_COLUMNS.map((name) => sql`${sql.ref(name)} = ${fields[name]}`))}
        where organization_id = ${organizationId} and session_id = ${sessionId}`.execute(transaction);
      await forgetDerived(transaction, session, now);
    }
    await endJob(transaction, job);
    await end(transaction, { organization_id: organizationId, mask_id }, 'done', now, places);
    return true;
  });
}

/** Reads the session unless it is deleted, and locks it until the transaction ends. */
const lockSession = (transaction: Db, { organizationId, sessionId }: SessionKey) =>
  firstRow(
    transaction,
    sql<SessionRow>`
      select * from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId} and deleted_at is null
      ${forUpdate(transaction)}`,
  );

/** Removes the derived rows of a masked session, so that they are derived again. */
async function forgetDerived(transaction: Db, session: SessionRow, now: number): Promise<void> {
  const { organization_id, session_id } = session;
  await sql`
    update sessions set masks = masks + 1
    where organization_id = ${organization_id} and session_id = ${session_id}`.execute(transaction);
  // If the content has expired, the facts cannot be derived again.
  if (session.content_expired_at === null) await removeFacts(transaction, session);
  // The indexer finds sessions that are behind by this row, even if this process ends now.
  await claimSession(transaction, session, now, 0);
}

type MaskKey = Pick<MaskRow, 'organization_id' | 'mask_id'>;
type Outcome = MaskOutcome | RunOutcome;

/**
 * Ends a mask that needs no more writes to its session: early, or because no session is left.
 * @throws JobLost
 */
export const endMask = (db: Db, job: Job, outcome: Outcome, now: number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const key = { organization_id: job.organization_id, mask_id: job.job_id };
    await endWith(transaction, key, outcome, now, () => endJob(transaction, job).then(() => true));
  });

/** Withdraws a mask that is not done. Text that it has masked stays masked. @returns false if it has ended meanwhile */
export const cancelMask = (transaction: Db, mask: MaskKey, now: number): Promise<boolean> =>
  endWith(transaction, mask, 'cancelled', now, () => cancelJob(transaction, mask.organization_id, mask.mask_id));

/**
 * Cancels a person's running mask of all sessions. An ended one stays as it is.
 * @returns undefined if this person has no such mask
 */
export const cancelMaskOfAll = (
  db: Db,
  { organizationId, userId, maskId }: Pick<NewMaskOfAll, 'organizationId' | 'userId' | 'maskId'>,
  now: number,
): Promise<MaskOfAll | undefined> =>
  db.transaction().execute(async (transaction) => {
    const find = () => findMask(transaction, organizationId, maskId);
    const mask = await find();
    if (!mask || isOfSession(mask) || mask.requested_by !== userId) return undefined;
    await cancelMask(transaction, mask, now);
    return (await find()) as MaskOfAll | undefined;
  });

/**
 * Ends a mask. Rows of its session that were derived before the mask still contain the text, so they are removed.
 * @param endOfJob ends the job @returns what `endOfJob` returns
 */
async function endWith(
  transaction: Db,
  key: MaskKey,
  outcome: Outcome,
  now: number,
  endOfJob: () => Promise<boolean>,
): Promise<boolean> {
  const { organization_id: organizationId, mask_id } = key;
  const mask = await findMask(transaction, organizationId, mask_id);
  const sessionId = mask?.session_id ?? undefined;
  // The session comes first, as at the end of a mask, so that two transactions cannot deadlock.
  const session = sessionId === undefined ? undefined : await lockSession(transaction, { organizationId, sessionId });
  if (!(await endOfJob())) return false;
  const isChanged = Number((await findMask(transaction, organizationId, mask_id))?.places) > 0;
  if (session && isChanged) await forgetDerived(transaction, session, now);
  await end(transaction, key, outcome, now);
  return true;
}

/** Stores the outcome, deletes the text, and records both in the audit log. */
async function end(
  transaction: Db,
  { organization_id, mask_id }: MaskKey,
  outcome: Outcome,
  now: number,
  fields = 0,
): Promise<void> {
  const ended = await firstRow(
    transaction,
    sql<MaskRow>`
      update masks set finished_at = ${now}, outcome = ${outcome}, sealed = null, fields = fields + ${fields}
      where organization_id = ${organization_id} and mask_id = ${mask_id} and finished_at is null
      returning *`,
  );
  if (ended) await record(transaction, ended, now);
}

/** Records the request of a mask, or its end if it has an outcome. */
const record = (transaction: Db, mask: MaskRow, now: number) =>
  recordAction(transaction, mask.organization_id, isOfSession(mask) ? onSession(mask) : onAll(mask), now);

const onSession = ({ session_id, mask_id, requested_by, outcome, events, places, fields }: SessionMask): Happened => ({
  actor: requested_by === SERVICE ? { kind: 'service', id: 'scan-secrets' } : person(requested_by),
  action: outcome === null ? 'session.mask_requested' : 'session.masked',
  target: { kind: 'session', id: session_id },
  details: {
    mask: mask_id,
    ...(outcome !== null && { events: Number(events), places: Number(places), fields: Number(fields), outcome }),
  },
});

/** Has no figures, because other admins read the log, and the figures count sessions that they may not see. */
const onAll = ({ organization_id, mask_id, requested_by, is_dry, outcome }: MaskRow): Happened => ({
  actor: person(requested_by),
  action: outcome === null ? 'organization.mask_requested' : 'organization.masked',
  target: { kind: 'organization', id: organization_id },
  details: { run: mask_id, dryRun: is_dry === 1, ...(outcome !== null && { outcome }) },
});

export const toMaskReceipt = ({ mark, outcome, ...row }: SessionMask): MaskReceipt => ({
  maskId: row.mask_id,
  ...requestOf(row),
  ...(outcome !== null && { outcome }),
  mark,
});

export const toMaskRun = ({ outcome, ...row }: MaskOfAll): MaskRun => ({
  runId: row.mask_id,
  ...requestOf(row),
  dryRun: row.is_dry === 1,
  ...(outcome !== null && { outcome }),
  sessions: Number(row.sessions),
  found: Number(row.found),
  held: Number(row.held),
  damaged: Number(row.damaged),
});

/** The fields that the answers for both have. */
const requestOf = (row: Omit<MaskRow, 'outcome' | 'mark'>) => ({
  by: row.requested_by,
  requestedAt: toTimestamp(row.requested_at),
  ...(row.finished_at !== null && { finishedAt: toTimestamp(row.finished_at) }),
  events: Number(row.events),
  places: Number(row.places),
  fields: Number(row.fields),
});
