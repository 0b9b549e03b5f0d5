import { sql } from 'kysely';
import type { MaskOutcome, MaskReceipt } from '../../contract/mask.ts';
import { Problem } from '../../contract/problem.ts';
import { newId } from '../ids.ts';
import type { SessionKey } from '../log/decide.ts';
import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { toTimestamp } from './columns.ts';
import { claimSession } from './derived.ts';
import { removeChunk, removeFacts } from './derived-removal.ts';
import { forShare, forUpdate } from './dialect.ts';
import type { StoredAppend } from './events.ts';
import { findHoldOf, lockHolds } from './holds.ts';
import { cancelJob, endJob, insertJob, type Job } from './jobs.ts';
import { allRows, changedRows, firstRow, oneRow } from './rows.ts';
import type { Db, SessionRow } from './schema.ts';
import type { MaskRow } from './schema-governance.ts';

export interface MaskedEvent {
  sequence: number;
  /** Of the event as it was before. */
  digest: string;
  /** Pieces that were replaced. */
  count: number;
}

/** An append in which something is to be masked. */
export interface MaskedAppend {
  append: StoredAppend;
  codec: number;
  body: Uint8Array;
  events: MaskedEvent[];
}

/** A text to be masked in a session. */
export interface NewMask extends SessionKey {
  userId: string;
  mark: string;
  sealed: string;
  /** Events that were acknowledged by then. */
  acceptedEvents: number;
}

const MOST_LISTED = 500;
/** Rows that one statement inserts: a database takes so many parameters and no more. */
const EVENTS_AT_ONCE = 1_000;

/** Stands for a sealed text where a sweep asks for what today's rules find. */
export const TODAYS_RULES = 'rules';
/** Who asks for that. */
const SERVICE = 'service';

/** A session is held; nothing of it is masked. */
export class MaskHeld extends Error {
  readonly holdId: string;

  constructor(holdId: string) {
    super('a hold keeps the session');
    this.holdId = holdId;
  }
}

/**
 * Notes what is to be masked, so that another process goes on where this one is stopped.
 * @param along what is written in the same transaction
 */
export const insertMask = (db: Db, mask: NewMask, now: number, along?: (transaction: Db) => Promise<void>) =>
  db.transaction().execute(async (transaction) => {
    const { organizationId, sessionId, userId, mark, sealed, acceptedEvents } = mask;
    await assertUnheld(transaction, { organizationId, sessionId });
    await assertHasWords(transaction, { organizationId, sessionId });
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
    // Before the audit log, in the same order as a cancellation takes its locks.
    await along?.(transaction);
    await record(transaction, row, 'session.mask_requested', {}, now);
    return row;
  });

/**
 * Asks, in a transaction, that a session is masked by today's rules.
 * @returns false where that was asked for before, and is not done
 * @throws MaskHeld; Problem `words_withheld`
 */
export async function askForSweep(transaction: Db, place: SessionKey & { eventCount: number }, now: number) {
  const { organizationId, sessionId, eventCount } = place;
  await assertUnheld(transaction, place);
  await assertHasWords(transaction, place);
  const row = await firstRow(
    transaction,
    sql<MaskRow>`
      insert into masks
        (mask_id, organization_id, session_id, mark, sealed, masked_by, requested_at, accepted_events)
      select ${newId('msk', now)}, ${organizationId}, ${sessionId}, '[REDACTED:…]', ${TODAYS_RULES}, ${SERVICE},
        ${sql.lit(now)}, ${sql.lit(eventCount)}
      where not exists (
        select 1 from masks
        where organization_id = ${organizationId} and session_id = ${sessionId} and sealed = ${TODAYS_RULES})
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

/** The latest first. */
export const listMasks = (db: Db, { organizationId, sessionId }: SessionKey) =>
  allRows(
    db,
    sql<MaskRow>`
      select * from masks where organization_id = ${organizationId} and session_id = ${sessionId}
      order by mask_id desc limit ${MOST_LISTED}`,
  );

/** @throws MaskHeld; until the transaction ends, the session gets no hold */
async function assertUnheld(transaction: Db, place: SessionKey): Promise<void> {
  await lockHolds(transaction, place.organizationId);
  const holdId = await findHoldOf(transaction, place);
  if (holdId !== undefined) throw new MaskHeld(holdId);
}

/** @throws Problem `words_withheld`; until the transaction ends, the session keeps its words */
async function assertHasWords(transaction: Db, { organizationId, sessionId }: SessionKey): Promise<void> {
  const session = await firstRow(
    transaction,
    sql`
      select 1 from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId} and content_expired_at is null
        and deleted_at is null
      ${forShare(transaction)}`,
  );
  if (!session) throw new Problem('words_withheld', 'The words of this session were removed meanwhile.');
}

/**
 * Writes masked appends, with the digests of what was accepted and how far the job is, in one transaction.
 * @returns false, without writing, where one of the appends is not as it was read
 * @throws MaskHeld; JobLost
 */
export const writeMasked = (
  db: Db,
  mask: MaskRow,
  appends: readonly MaskedAppend[],
  now: number,
  along: (transaction: Db) => Promise<void>,
): Promise<boolean> => {
  const { organization_id: organizationId, session_id: sessionId, mask_id, masked_by } = mask;
  return db
    .transaction()
    .execute(async (transaction) => {
      await assertUnheld(transaction, { organizationId, sessionId });
      // The job comes first, as where it is cancelled, so that two transactions cannot deadlock.
      await along(transaction);
      for (const { append, codec, body } of appends) {
        const changed = await changedRows(
          transaction,
          sql`
            update appends set codec = ${codec}, body = ${body}
            where organization_id = ${organizationId} and session_id = ${sessionId}
              and first_sequence = ${append.first_sequence} and body = ${append.body}`,
        );
        if (changed === 0) throw new Overtaken();
      }
      const events = appends.flatMap((append) => append.events);
      for (let from = 0; from < events.length; from += EVENTS_AT_ONCE) {
        const rows = events
          .slice(from, from + EVENTS_AT_ONCE)
          .map(
            ({ sequence, digest, count }) =>
              sql`(${sessionId}, ${sequence}, ${organizationId}, ${digest}, ${count}, ${masked_by}, ${now})`,
          );
        await sql`
          insert into event_masks (session_id, sequence, organization_id, digest, places, masked_by, masked_at)
          values ${sql.join(rows)}
          on conflict (session_id, sequence) do update set places = event_masks.places + excluded.places,
            masked_by = excluded.masked_by, masked_at = excluded.masked_at`.execute(transaction);
      }
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

/** Somebody else changed an append meanwhile. */
class Overtaken extends Error {}

/** What a session says of itself. */
export const OWN_FIELDS = ['title', 'repo_root', 'repository', 'git_branch'] as const;
export type OwnFields = Pick<SessionRow, (typeof OWN_FIELDS)[number]>;

export type SweptSession = OwnFields & Pick<SessionRow, 'organization_id' | 'session_id' | 'event_count'>;

/** Sessions of all organizations that have their words, by their ids. */
export const listSwept = (db: Db, after: string, limit: number) =>
  allRows(
    db,
    sql<SweptSession>`
      select organization_id, session_id, event_count, title, repo_root, repository, git_branch from sessions
      where session_id > ${after} and deleted_at is null and content_expired_at is null
      order by session_id limit ${limit}`,
  );

/**
 * Ends masking: masks what the session says of itself, and removes what was derived of it, so that it is derived again.
 * @param own what the session said of itself as it was read, and masked; undefined: there was no session
 * @returns false, without an end, where it says something else by now
 * @throws MaskHeld; JobLost
 */
export async function finishMask(
  db: Db,
  job: Job,
  { organization_id: organizationId, session_id: sessionId, mask_id }: MaskRow,
  own: { before: OwnFields; fields: OwnFields; places: number } | undefined,
  now: number,
): Promise<boolean> {
  const found = await findMask(db, organizationId, mask_id);
  // One at a time, so that nobody waits for long; those that are made meanwhile go in the end.
  if (Number(found?.places) > 0) while (await removeChunk(db, organizationId, sessionId));
  return db.transaction().execute(async (transaction) => {
    await assertUnheld(transaction, { organizationId, sessionId });
    const session = await lockSession(transaction, { organizationId, sessionId });
    if (session && OWN_FIELDS.some((name) => session[name] !== own?.before[name])) return false;
    const places = session && own ? own.places : 0;
    const isChanged = places > 0 || Number(found?.places) > 0;
    if (session && own && isChanged) {
      const { title, repo_root, repository, git_branch } = own.fields;
      await sql`
        update sessions set title = ${title}, repo_root = ${repo_root}, repository = ${repository},
          git_branch = ${git_branch}
        where organization_id = ${organizationId} and session_id = ${sessionId}`.execute(transaction);
      await forgetDerived(transaction, session);
    }
    await endJob(transaction, job);
    await endMask(transaction, { organizationId, maskId: mask_id }, 'done', now, places);
    return true;
  });
}

/** The session, unless it is deleted; until the transaction ends, nobody else changes it. */
const lockSession = (transaction: Db, { organizationId, sessionId }: SessionKey) =>
  firstRow(
    transaction,
    sql<SessionRow>`
      select * from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId} and deleted_at is null
      ${forUpdate(transaction)}`,
  );

/** Removes what was derived of a masked session, so that it is derived again. */
async function forgetDerived(transaction: Db, session: SessionRow): Promise<void> {
  const { organization_id, session_id } = session;
  await sql`
    update sessions set masks = masks + 1
    where organization_id = ${organization_id} and session_id = ${session_id}`.execute(transaction);
  // Where the words have expired, the facts cannot be derived again.
  if (session.content_expired_at === null) await removeFacts(transaction, session);
}

interface MaskKey {
  organizationId: string;
  maskId: string;
}

/**
 * Ends masking before its end.
 * @throws JobLost
 */
export const stopMask = (db: Db, job: Job, outcome: 'held' | 'failed', now: number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const key = { organizationId: job.organization_id, maskId: job.job_id };
    await endEarly(transaction, key, outcome, now, () => endJob(transaction, job).then(() => true));
  });

/**
 * Rows that were derived before the mask still show the text, so they are removed.
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
  // The session comes first, as where masking is done, so that two transactions cannot deadlock.
  const place = mask && { organizationId: key.organizationId, sessionId: mask.session_id };
  const session = place && (await lockSession(transaction, place));
  if (!(await end())) return false;
  const isChanged = Number((await findMask(transaction, key.organizationId, key.maskId))?.places) > 0;
  if (session && isChanged) {
    await forgetDerived(transaction, session);
    // Deriving finds sessions that are behind by this row.
    await claimSession(transaction, session, now, 0);
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

/** Masks that a sweep has asked for and that are not done, of all organizations. */
export const listSweepMasks = (db: Db, limit: number) =>
  allRows(
    db,
    sql<Pick<MaskRow, 'organization_id' | 'mask_id' | 'session_id'>>`
      select organization_id, mask_id, session_id from masks
      where finished_at is null and sealed = ${TODAYS_RULES} order by mask_id limit ${limit}`,
  );

/** Withdraws a mask that is not done. Texts that it has masked stay masked. @returns false if it has ended meanwhile */
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
