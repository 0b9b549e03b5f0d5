import { type RawBuilder, sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { Hold, PlaceHoldBody } from '../../contract/hold.ts';
import { Problem } from '../../contract/problem.ts';
import { newId } from '../ids.ts';
import type { SessionKey } from '../log/decide.ts';
import { recordAction } from '../store/audit.ts';
import { person } from '../store/audit-chain.ts';
import { optional, toTimestamp } from '../store/columns.ts';
import { findHold, lockHolds } from '../store/deletion-sql.ts';
import { isPostgres } from '../store/postgres.ts';
import { countOfRepository, findRepository, wholeForm } from '../store/repositories.ts';
import { allRows, firstRow, fromText, NONE, oneRow } from '../store/rows.ts';
import type { Db, HoldRow, MemberKey } from '../store/schema.ts';
import { named, type Viewer } from '../store/viewer.ts';

/** How many holds may be in force. It is limited because each deletion of a session checks the holds. */
const MAX_IN_FORCE = 500;
const MAX_LISTED = 1_000;

/** Prevents new holds in the organization until the transaction ends. SQLite has only one writer. */
export const preventHolds = (transaction: Db, organizationId: string) => lock(transaction, 'shared', organizationId);

async function lock(transaction: Db, how: 'shared' | 'alone', organizationId: string): Promise<void> {
  if (isPostgres(transaction)) await fromText(lockHolds(how, '?'), [organizationId]).execute(transaction);
}

/** Records that a hold prevented the deletion of a session. */
export const recordRefusal = (
  db: Db,
  { organizationId, sessionId }: SessionKey,
  actor: AuditParty,
  holdId: string,
  now: number,
): Promise<void> =>
  db.transaction().execute((transaction) => {
    const target = { kind: 'session', id: sessionId } as const;
    const refused = { actor, action: 'session.deletion_refused', target, details: { hold: holdId } } as const;
    return recordAction(transaction, organizationId, refused, now);
  });

/** Finds a hold that prevents the deletion of the session. */
export async function findHoldOf(db: Db, { organizationId, sessionId }: SessionKey): Promise<string | undefined> {
  const row = await firstRow(db, fromText<{ hold_id: string | null }>(findHold('?', '?'), sessionId, organizationId));
  return row?.hold_id ?? undefined;
}

/**
 * Checks that the organization has no hold in force. The transaction must have changed the row of the organization, because
 * holds are placed under the lock of that row.
 * @throws Problem `held`
 */
export async function assertNoHold(transaction: Db, organizationId: string): Promise<void> {
  const row = await firstRow(
    transaction,
    sql<Pick<HoldRow, 'hold_id'>>`
      select hold_id from holds where organization_id = ${organizationId} and released_at is null
      order by hold_id limit 1`,
  );
  if (!row) return;
  throw new Problem(
    'held',
    `The hold ${row.hold_id} is in force, so the organization was not deleted. Ask an owner or admin to release its holds first.`,
  );
}

/**
 * Checks that no hold covers all sessions of a person. Call it in a transaction of `changeMembers`, because holds are placed in
 * such transactions.
 * @param everythingToo whether a hold on everything in the organization counts, too
 * @throws Problem `held`
 */
export async function assertNoHoldOn(transaction: Db, { organizationId, userId }: MemberKey, everythingToo: boolean) {
  const row = await firstRow(
    transaction,
    sql<Pick<HoldRow, 'hold_id'>>`
      select hold_id from holds
      where organization_id = ${organizationId} and released_at is null
        and (target_kind = 'person' and target_id = ${userId} ${everythingToo ? sql`or target_kind = 'everything'` : NONE})
      order by hold_id limit 1`,
  );
  if (!row) return;
  throw new Problem(
    'held',
    `The hold ${row.hold_id} keeps the sessions of this person, so nobody was removed. Keep the sessions, or have the hold released first.`,
  );
}

/**
 * Places a hold, in a transaction of `changeMembers`, so that concurrent requests count each other.
 * @throws Problem `not_found`, `quota_reached`
 */
export async function placeHold(
  transaction: Db,
  viewer: Viewer & MemberKey,
  { target, reason }: PlaceHoldBody,
  now: number,
): Promise<HoldRow> {
  const { organizationId, userId } = viewer;
  // Waits for deletions in the organization.
  await lock(transaction, 'alone', organizationId);
  const targetId = await findTarget(transaction, viewer, target);
  const { count } = await oneRow(
    transaction,
    sql<{ count: number | string }>`
      select count(*) as count from holds where organization_id = ${organizationId} and released_at is null`,
  );
  if (Number(count) >= MAX_IN_FORCE) throw tooMany();
  const row = await oneRow(
    transaction,
    sql<HoldRow>`
      insert into holds (hold_id, organization_id, target_kind, target_id, reason, placed_by, placed_at)
      values (${newId('hol', now)}, ${organizationId}, ${target.kind}, ${targetId ?? null}, ${reason}, ${userId}, ${now})
      returning *`,
  );
  await record(transaction, row, 'hold.placed', userId, now);
  return row;
}

/** Releases a hold; undefined if the organization has no such hold. */
export const releaseHold = (
  db: Db,
  { organizationId, userId }: MemberKey,
  holdId: string,
  now: number,
): Promise<HoldRow | undefined> =>
  db.transaction().execute(async (transaction) => {
    const released = await firstRow(
      transaction,
      sql<HoldRow>`
        update holds set released_by = ${userId}, released_at = ${now}
        where organization_id = ${organizationId} and hold_id = ${holdId} and released_at is null
        returning *`,
    );
    if (released) await record(transaction, released, 'hold.released', userId, now);
    return (
      released ??
      (await firstRow(
        transaction,
        sql<HoldRow>`select * from holds where organization_id = ${organizationId} and hold_id = ${holdId}`,
      ))
    );
  });

/** Lists the holds: those in force first, each group from the latest on. */
export const listHolds = (db: Db, organizationId: string): Promise<HoldRow[]> =>
  allRows(
    db,
    sql<HoldRow>`
      select * from holds where organization_id = ${organizationId}
      order by case when released_at is null then 0 else 1 end, hold_id desc limit ${MAX_LISTED}`,
  );

export const toHold = (row: HoldRow, sessions?: number): Hold => ({
  holdId: row.hold_id,
  target: { kind: row.target_kind, ...(row.target_id === null ? {} : { id: row.target_id }) },
  ...optional('sessions', sessions ?? null),
  reason: row.reason,
  placedBy: row.placed_by,
  placedAt: toTimestamp(row.placed_at),
  ...(row.released_by === null ? {} : { releasedBy: row.released_by }),
  ...(row.released_at === null ? {} : { releasedAt: toTimestamp(row.released_at) }),
});

/**
 * The id of the target in its stored form. Refuses unknown targets, because a hold on a misspelled name would protect nothing
 * without anybody noticing. The whole address of a repository is accepted, because its sessions may be hidden from the viewer.
 */
async function findTarget(db: Db, viewer: Viewer, { kind, id }: PlaceHoldBody['target']): Promise<string | undefined> {
  if (kind === 'everything') return undefined;
  if (kind === 'repository') {
    const repository = (await findRepository(db, viewer, id ?? '')) ?? wholeForm(id ?? '');
    if (repository !== undefined) return repository;
  } else if (await firstRow(db, KNOWN[kind](viewer, id))) return id;
  throw new Problem('not_found', UNKNOWN[kind]);
}

/** The number of sessions that a hold in force covers; undefined for everything. */
export async function countHeld(db: Db, viewer: Viewer, hold: HoldRow): Promise<number | undefined> {
  const { organization_id: organizationId, target_kind: kind, target_id: id, released_at } = hold;
  if (released_at !== null || kind === 'everything' || id === null) return undefined;
  if (kind === 'repository') return countOfRepository(db, viewer, id);
  const of = kind === 'person' ? sql`user_id` : sql`session_id`;
  const { sessions } = await oneRow(
    db,
    sql<{ sessions: number | string }>`
      select count(*) as sessions from sessions
      where organization_id = ${organizationId} and ${of} = ${id} and deleted_at is null`,
  );
  return Number(sessions);
}

type Named = Exclude<PlaceHoldBody['target']['kind'], 'everything'>;

const KNOWN: Record<Exclude<Named, 'repository'>, (viewer: Viewer, id: string | undefined) => RawBuilder<unknown>> = {
  session: (viewer, id) => sql`
    select 1 from sessions
    where organization_id = ${viewer.organizationId} and session_id = ${id} and deleted_at is null and ${named(viewer)}`,
  // Includes a person who has left, if their sessions stayed.
  person: ({ organizationId }, id) => sql`
    select 1 from members where organization_id = ${organizationId} and user_id = ${id}
    union all
    select 1 from sessions where organization_id = ${organizationId} and user_id = ${id}
    limit 1`,
};

const UNKNOWN: Record<Named, string> = {
  session: 'No such session in this organization.',
  person: 'No such person in this organization, and no session of theirs.',
  repository:
    'No session of this repository. Choose one of the list, or write its whole address, such as github.com/owner/name.',
};

const record = (transaction: Db, row: HoldRow, action: 'hold.placed' | 'hold.released', userId: string, now: number) =>
  recordAction(
    transaction,
    row.organization_id,
    {
      actor: person(userId),
      action,
      target: { kind: 'hold', id: row.hold_id },
      details: { on: row.target_kind, ...(row.target_id === null ? {} : { id: row.target_id }) },
    },
    now,
  );

const tooMany = () =>
  new Problem('quota_reached', `An organization has ${MAX_IN_FORCE} holds in force at most. Release one first.`);
