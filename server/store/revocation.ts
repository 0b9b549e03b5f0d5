import { sql } from 'kysely';
import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { findEnvironment } from './environments.ts';
import { allRows, firstRow, NONE } from './rows.ts';
import type { Db, EnvironmentRow, MemberKey, SessionRow } from './schema.ts';

/** How many open sessions are listed at once. */
const CLOSED_AT_ONCE = 500;

/** Revokes the machine if it is active, so that it can open no further session. */
export const revokeEnvironment = async (
  db: Db,
  revoker: MemberKey,
  environmentId: string,
  now: number,
): Promise<EnvironmentRow | undefined> =>
  (await db.transaction().execute((transaction) => revokeWithin(transaction, revoker, environmentId, now))) ??
  findEnvironment(db, revoker.organizationId, environmentId);

/** Revokes the machine within a transaction. @returns undefined if there is no such active machine */
export async function revokeWithin(
  transaction: Db,
  { organizationId, userId }: MemberKey,
  environmentId: string,
  now: number,
): Promise<EnvironmentRow | undefined> {
  const revoked = await firstRow(
    transaction,
    sql<EnvironmentRow>`
      update environments set status = 'revoked', updated_at = ${now}
      where organization_id = ${organizationId} and environment_id = ${environmentId} and status = 'active'
      returning *`,
  );
  if (!revoked) return undefined;
  const target = { kind: 'machine', id: environmentId } as const;
  const happened = { actor: person(userId), action: 'machine.revoked', target } as const;
  await recordAction(transaction, organizationId, happened, now);
  return revoked;
}

/** The first revoked machine of any organization, by id after `after`, that still has open sessions. */
export const findRevokedWithOpen = (db: Db, after: string): Promise<EnvironmentRow | undefined> =>
  firstRow(
    db,
    sql<EnvironmentRow>`
      select * from environments
      where status = 'revoked' and environment_id > ${after} and exists (
        select 1 from sessions
        where sessions.environment_id = environments.environment_id and sessions.status = 'active')
      order by environment_id limit 1`,
  );

/**
 * Lists open sessions of a machine, newest first.
 * @param before the last session of the previous call; undefined: starts with the newest
 * @returns `next` is the last of these sessions if more are left
 */
export async function listOpen(
  db: Db,
  { organization_id, environment_id }: EnvironmentRow,
  before: string | undefined,
): Promise<{ rows: SessionRow[]; next: string | undefined }> {
  const rows = await allRows(
    db,
    sql<SessionRow>`
      select * from sessions
      where organization_id = ${organization_id} and environment_id = ${environment_id} and status = 'active'
        ${before === undefined ? NONE : sql`and session_id < ${before}`}
      order by session_id desc limit ${CLOSED_AT_ONCE}`,
  );
  return { rows, next: rows.length < CLOSED_AT_ONCE ? undefined : rows.at(-1)?.session_id };
}
