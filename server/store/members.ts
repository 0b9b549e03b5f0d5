import type { Member, Role } from '../../contract/organization.ts';
import { newId } from '../ids.ts';
import { emailKey } from './email.ts';
import type { Db } from './open.ts';
import { assertRoom, QUOTAS } from './quotas.ts';
import type { MemberRow } from './schema.ts';
import { optionalTimestamp, toTimestamp } from './time.ts';

export const toMember = (row: MemberRow): Member => ({
  organizationId: row.organization_id,
  userId: row.user_id,
  email: row.email,
  role: row.role,
  status: row.status,
  ...optionalTimestamp('joinedAt', row.joined_at),
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

/** An invitation that nobody has accepted, as an admin sees it. */
export const toWaitingInvitation = (row: MemberRow) => ({
  userId: row.user_id,
  email: row.email,
  role: row.role,
  ...optionalTimestamp('mailedAt', row.mailed_at),
  ...optionalTimestamp('expiresAt', row.link_expires_at),
});

/** Ids of those who belong to the organization or are invited, the earliest first. */
export async function listMemberIds(db: Db, organizationId: string, status?: MemberRow['status']): Promise<string[]> {
  const rows = await db
    .selectFrom('members')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as MemberRow['status']))
    .orderBy('created_at')
    .orderBy('user_id')
    .limit(QUOTAS.members)
    .execute();
  return rows.map(({ user_id }) => user_id);
}

export const readMembers = (db: Db, organizationId: string, ids: readonly string[]) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', ids)
    .execute();

export const findMember = (db: Db, organizationId: string, userId: string): Promise<MemberRow | undefined> =>
  db
    .selectFrom('members')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();

/**
 * Writes the invitation down, within a transaction. Rejects on a unique constraint when the organization has a member of
 * this e-mail.
 * @throws Problem `quota_reached`
 */
export async function insertInvited(
  transaction: Db,
  organizationId: string,
  email: string,
  role: Role,
  now: number,
): Promise<MemberRow> {
  await assertRoom(transaction, 'members', organizationId, now);
  return transaction
    .insertInto('members')
    .values({
      organization_id: organizationId,
      user_id: newId('usr'),
      email,
      email_key: emailKey(email),
      role,
      status: 'invited',
      mailed_at: null,
      link_expires_at: null,
      joined_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Notes that the invitation is on its way; nothing, if it was accepted or withdrawn meanwhile. */
export const markMailed = (db: Db, row: MemberRow, linkExpiresAt: number | undefined, now: number) =>
  db
    .updateTable('members')
    .set({ mailed_at: now, link_expires_at: linkExpiresAt ?? null, updated_at: now })
    .where('organization_id', '=', row.organization_id)
    .where('user_id', '=', row.user_id)
    .where('status', '=', 'invited')
    .returningAll()
    .executeTakeFirst();

/** Takes an invitation back that was never mailed. */
export const removeUnmailed = (db: Db, { organization_id, user_id }: MemberRow) =>
  db
    .deleteFrom('members')
    .where('organization_id', '=', organization_id)
    .where('user_id', '=', user_id)
    .where('status', '=', 'invited')
    .where('mailed_at', 'is', null)
    .execute();

export const removeMember = (db: Db, { organization_id, user_id }: MemberRow) =>
  db.deleteFrom('members').where('organization_id', '=', organization_id).where('user_id', '=', user_id).execute();

export const updateRole = (db: Db, { organization_id, user_id }: MemberRow, role: Role, now: number) =>
  db
    .updateTable('members')
    .set({ role, updated_at: now })
    .where('organization_id', '=', organization_id)
    .where('user_id', '=', user_id)
    .returningAll()
    .executeTakeFirstOrThrow();
