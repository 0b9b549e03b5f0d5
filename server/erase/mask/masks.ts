import { sql } from 'kysely';
import { eventDigest } from '../../../contract/chain.ts';
import type { MaskOutcome, MaskReceipt } from '../../../contract/mask.ts';
import { Problem } from '../../../contract/problem.ts';
import { saltsOf, withoutSalts } from '../../../contract/salts.ts';
import { newId } from '../../ids.ts';
import type { SessionKey } from '../../log/decide.ts';
import { recordAction } from '../../store/audit.ts';
import { person } from '../../store/audit-chain.ts';
import { toTimestamp } from '../../store/columns.ts';
import { claimSession } from '../../store/derived.ts';
import { removeChunk, removeFacts } from '../../store/derived-removal.ts';
import { forShare, forUpdate } from '../../store/dialect.ts';
import type { StoredAppend } from '../../store/events.ts';
import { cancelJob, endJob, insertJob, type Job } from '../../store/jobs.ts';
import { allRows, changedRows, firstRow, oneRow, type Sql } from '../../store/rows.ts';
import { lockSaltKeys, writeSaltKeys } from '../../store/salt-keys.ts';
import type { Db, MaskRow, SessionRow } from '../../store/schema.ts';
import { type SessionTexts, TEXT_COLUMNS } from '../../store/session-columns.ts';
import { findHoldOf, preventHolds } from '../holds.ts';

export interface MaskedEvent {
  sequence: number;
  /** The `contentDigest` of the original event, which must not be stored. */
  content: string;
  /** How many pieces were replaced. */
  count: number;
}

/** An append with its masked body. */
export interface MaskedAppend {
  append: StoredAppend;
  codec: number;
  body: Uint8Array;
  events: MaskedEvent[];
}

/** A request to mask a text in a session. */
export interface NewMask extends SessionKey {
  userId: string;
  mark: string;
  sealed: string;
  /** How many events were acknowledged at the request. */
  acceptedEvents: number;
}

const MOST_LISTED = 500;
/** How many rows one statement inserts. A database limits the number of parameters. */
const EVENTS_AT_ONCE = 1_000;

/** Replaces the sealed text when a sweep requests to mask the findings of the current rules. */
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

/**
 * Stores a mask and its job, so that another process can continue it.
 * @param along writes more in the same transaction
 */
export const insertMask = (db: Db, mask: NewMask, now: number, along?: (transaction: Db) => Promise<void>) =>
  db.transaction().execute(async (transaction) => {
    const { organizationId, sessionId, userId, mark, sealed, acceptedEvents } = mask;
    await assertUnheld(transaction, { organizationId, sessionId });
    await assertHasContent(transaction, { organizationId, sessionId });
    const row = await oneRow(
      transaction,
      sql<MaskRow>`
        insert into masks
          (mask_id, organization_id, session_id, mark, sealed, masked_by, requested_at, accepted_events)
        values
          (${newId('msk', now)}, ${organizationId}, ${sessionId}, ${mark}, ${sealed}, ${userId}, ${now}, ${acceptedEvents})
        returning *`,
    );
    await insertJob(transaction, jobOf(row));
    // This comes before the audit log, in the order in which a cancellation takes its locks.
    await along?.(transaction);
    await record(transaction, row, 'session.mask_requested', {}, now);
    return row;
  });

/**
 * Requests, in a transaction, to mask a session by the current rules.
 * @returns false if an earlier request is not done yet
 * @throws MaskHeld; Problem `content_withheld`
 */
export async function askForSweep(transaction: Db, place: SessionKey & { eventCount: number }, now: number) {
  const { organizationId, sessionId, eventCount } = place;
  await assertUnheld(transaction, place);
  await assertHasContent(transaction, place);
  const row = await firstRow(
    transaction,
    sql<MaskRow>`
      insert into masks
        (mask_id, organization_id, session_id, mark, sealed, masked_by, requested_at, accepted_events)
      values
        (${newId('msk', now)}, ${organizationId}, ${sessionId}, '[REDACTED:…]', ${TODAYS_RULES}, ${SERVICE}, ${now}, ${eventCount})
      on conflict do nothing
      returning *`,
  );
  if (!row) return false;
  await insertJob(transaction, jobOf(row));
  await record(transaction, row, 'session.mask_requested', {}, now);
  return true;
}

/** The kind of the jobs that mask a session. */
export const MASK_JOB = 'mask';
export const jobOf = ({ mask_id, organization_id }: MaskRow) => ({ job_id: mask_id, organization_id, kind: MASK_JOB });

export const findMask = (db: Db, organizationId: string, maskId: string) =>
  firstRow(db, sql<MaskRow>`select * from masks where organization_id = ${organizationId} and mask_id = ${maskId}`);

/** Lists the masks of a session, latest first. */
export const listMasks = (db: Db, { organizationId, sessionId }: SessionKey) =>
  allRows(
    db,
    sql<MaskRow>`
      select * from masks where organization_id = ${organizationId} and session_id = ${sessionId}
      order by mask_id desc limit ${MOST_LISTED}`,
  );

/** Prevents a hold on the session until the transaction ends. @throws MaskHeld */
async function assertUnheld(transaction: Db, place: SessionKey): Promise<void> {
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

/**
 * Writes masked appends, the digests of the original events, and the progress of the job, in one transaction. It also removes the
 * salts of these events and the fingerprints of the appends, which are digests of the original text. Afterwards nobody can find
 * out by guessing which text it was.
 * @returns false, without writing, if one of the appends has changed since it was read
 * @throws MaskHeld; JobLost
 */
export const writeMasked = (
  db: Db,
  mask: MaskRow,
  appends: readonly MaskedAppend[],
  now: number,
  along: (transaction: Db) => Promise<void>,
): Promise<boolean> => {
  const { organization_id: organizationId, session_id: sessionId, mask_id } = mask;
  return db
    .transaction()
    .execute(async (transaction) => {
      await assertUnheld(transaction, { organizationId, sessionId });
      // The job comes first, as in a cancellation, so that two transactions cannot deadlock.
      await along(transaction);
      for (const { append, codec, body } of appends) {
        const changed = await changedRows(
          transaction,
          sql`
            update appends set codec = ${codec}, body = ${body}, fingerprint = null
            where organization_id = ${organizationId} and session_id = ${sessionId}
              and first_sequence = ${append.first_sequence} and body = ${append.body}`,
        );
        if (changed === 0) throw new Overtaken();
      }
      const events = appends.flatMap((append) => append.events);
      await noteMasked(transaction, mask, events, now);
      const places = events.reduce((sum, { count }) => sum + count, 0);
      await sql`
        update masks set events = events + ${events.length}, places = places + ${places}
        where organization_id = ${organizationId} and mask_id = ${mask_id}`.execute(transaction);
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof Overtaken) return false;
      throw error;
    });
};

/**
 * Notes masked events with their digests, and removes their salts. An event without a salt was masked before, so it keeps its
 * digest; or its content is being removed, so it needs none.
 */
async function noteMasked(
  transaction: Db,
  { organization_id: organizationId, session_id: sessionId, masked_by }: MaskRow,
  events: readonly MaskedEvent[],
  now: number,
): Promise<void> {
  const place = { organizationId, sessionId };
  const saltKeys = await lockSaltKeys(transaction, place);
  const saltOf = saltsOf(saltKeys);
  const added: Sql[] = [];
  const again: Sql[] = [];
  for (const { sequence, content, count } of events) {
    const salt = saltOf(sequence);
    if (salt === undefined) again.push(sql`(${sql.lit(sequence)}, ${sql.lit(count)})`);
    else {
      const digest = eventDigest(salt, content);
      added.push(sql`(${sessionId}, ${sequence}, ${organizationId}, ${digest}, ${count}, ${masked_by}, ${now})`);
    }
  }
  for (let from = 0; from < added.length; from += EVENTS_AT_ONCE) {
    await sql`
      insert into event_masks (session_id, sequence, organization_id, digest, places, masked_by, masked_at)
      values ${sql.join(added.slice(from, from + EVENTS_AT_ONCE))}`.execute(transaction);
  }
  for (let from = 0; from < again.length; from += EVENTS_AT_ONCE) {
    await sql`
      with masked (sequence, places) as (values ${sql.join(again.slice(from, from + EVENTS_AT_ONCE))})
      update event_masks set places = event_masks.places + masked.places, masked_by = ${masked_by}, masked_at = ${now}
      from masked
      where organization_id = ${organizationId} and session_id = ${sessionId}
        and event_masks.sequence = masked.sequence`.execute(transaction);
  }
  if (added.length === 0) return;
  await writeSaltKeys(
    transaction,
    place,
    withoutSalts(
      saltKeys,
      events.map(({ sequence }) => sequence),
    ),
  );
}

/** Another mask changed an append meanwhile. */
class Overtaken extends Error {}

export type SweptSession = SessionTexts & Pick<SessionRow, 'organization_id' | 'session_id' | 'event_count'>;

/** Lists sessions of all organizations that have their content, in the order of their ids. */
export const listSwept = (db: Db, after: string, limit: number) =>
  allRows(
    db,
    sql<SweptSession>`
      select organization_id, session_id, event_count, ${sql.join(TEXT_COLUMNS.map((name) => sql.ref(name)))} from sessions
      where session_id > ${after} and deleted_at is null and content_expired_at is null
      order by session_id limit ${limit}`,
  );

/**
 * Ends a mask: masks the session's own fields, and removes its derived rows, so that they are derived again.
 * @param own the session's own fields before and after masking; undefined: there was no session
 * @returns false, without ending the mask, if the fields have changed meanwhile
 * @throws MaskHeld; JobLost
 */
export async function finishMask(
  db: Db,
  job: Job,
  { organization_id: organizationId, session_id: sessionId, mask_id }: MaskRow,
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
    await endMask(transaction, { organizationId, maskId: mask_id }, 'done', now, places);
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

interface MaskKey {
  organizationId: string;
  maskId: string;
}

/**
 * Ends a mask early.
 * @throws JobLost
 */
export const stopMask = (db: Db, job: Job, outcome: 'held' | 'failed', now: number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const key = { organizationId: job.organization_id, maskId: job.job_id };
    await endEarly(transaction, key, outcome, now, () => endJob(transaction, job).then(() => true));
  });

/**
 * Ends a mask early. Rows that were derived before the mask still contain the text, so they are removed.
 * @param end ends the job @returns what `end` returns
 */
async function endEarly(
  transaction: Db,
  key: MaskKey,
  outcome: MaskOutcome,
  now: number,
  end: () => Promise<boolean>,
): Promise<boolean> {
  const mask = await findMask(transaction, key.organizationId, key.maskId);
  // The session comes first, as at the end of a mask, so that two transactions cannot deadlock.
  const place = mask && { organizationId: key.organizationId, sessionId: mask.session_id };
  const session = place && (await lockSession(transaction, place));
  if (!(await end())) return false;
  const isChanged = Number((await findMask(transaction, key.organizationId, key.maskId))?.places) > 0;
  if (session && isChanged) {
    await forgetDerived(transaction, session, now);
  }
  await endMask(transaction, key, outcome, now);
  return true;
}

async function endMask(
  transaction: Db,
  { organizationId, maskId }: MaskKey,
  outcome: MaskOutcome,
  now: number,
  fields = 0,
): Promise<void> {
  const ended = await firstRow(
    transaction,
    sql<MaskRow>`
      update masks set finished_at = ${now}, outcome = ${outcome}, sealed = null, fields = fields + ${fields}
      where organization_id = ${organizationId} and mask_id = ${maskId} and finished_at is null
      returning *`,
  );
  if (ended) await record(transaction, ended, 'session.masked', countsOf(ended), now);
}

/** Lists the masks of all organizations that a sweep requested and that are not done. */
export const listSweepMasks = (db: Db, limit: number) =>
  allRows(
    db,
    sql<Pick<MaskRow, 'organization_id' | 'mask_id' | 'session_id'>>`
      select organization_id, mask_id, session_id from masks
      where finished_at is null and sealed = ${TODAYS_RULES} order by mask_id limit ${limit}`,
  );

/** Withdraws a mask that is not done. Text that it has masked stays masked. @returns false if it has ended meanwhile */
export async function cancelMask(
  transaction: Db,
  { organization_id: organizationId, mask_id: maskId }: Pick<MaskRow, 'organization_id' | 'mask_id'>,
  now: number,
): Promise<boolean> {
  const end = () => cancelJob(transaction, organizationId, maskId);
  return endEarly(transaction, { organizationId, maskId }, 'cancelled', now, end);
}

const countsOf = ({ events, places, fields, outcome }: MaskRow) => ({
  events: Number(events),
  places: Number(places),
  fields: Number(fields),
  outcome: outcome ?? 'done',
});

const record = (
  transaction: Db,
  { organization_id, session_id, mask_id, masked_by }: MaskRow,
  action: 'session.mask_requested' | 'session.masked',
  details: Record<string, string | number>,
  now: number,
) =>
  recordAction(
    transaction,
    organization_id,
    {
      actor: masked_by === SERVICE ? { kind: 'service', id: 'sweep' } : person(masked_by),
      action,
      target: { kind: 'session', id: session_id },
      details: { mask: mask_id, ...details },
    },
    now,
  );

export const toMaskReceipt = (row: MaskRow): MaskReceipt => ({
  maskId: row.mask_id,
  by: row.masked_by,
  requestedAt: toTimestamp(row.requested_at),
  ...(row.finished_at !== null && { finishedAt: toTimestamp(row.finished_at) }),
  ...(row.outcome !== null && { outcome: row.outcome }),
  events: Number(row.events),
  places: Number(row.places),
  fields: Number(row.fields),
  mark: row.mark,
});
