import { sql } from 'kysely';
import type { Member, Role } from '../../contract/organization.ts';
import type { Named } from '../../contract/person-name.ts';
import { newId } from '../ids.ts';
import { emailKey, optionalTimestamp, toTimestamp } from './columns.ts';
import { assertRoom, QUOTAS } from './quotas.ts';
import { allRows, changedRows, firstRow, NONE, oneRow } from './rows.ts';
import type { Db, MemberRow, UserRow } from './schema.ts';
import { asService } from './tenant.ts';

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

/** A pending invitation as admins see it. */
export const toWaitingInvitation = (row: MemberRow) => ({
  userId: row.user_id,
  email: row.email,
  role: row.role,
  ...optionalTimestamp('mailedAt', row.mailed_at),
  ...optionalTimestamp('expiresAt', row.link_expires_at),
});

/** Ids of the members, or of those with one status, earliest first. */
export async function listMemberIds(db: Db, organizationId: string, status?: MemberRow['status']): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<MemberRow, 'user_id'>>`
      select user_id from members
      where organization_id = ${organizationId} ${status === undefined ? NONE : sql`and status = ${status}`}
      order by created_at, user_id limit ${QUOTAS.members}`,
  );
  return rows.map(({ user_id }) => user_id);
}

export const findMember = (db: Db, organizationId: string, userId: string): Promise<MemberRow | undefined> =>
  firstRow(db, sql<MemberRow>`select * from members where organization_id = ${organizationId} and user_id = ${userId}`);

/** The ids and e-mail addresses of members and invited people. */
export async function listNamed(db: Db, organizationId: string): Promise<Named[]> {
  const rows = await allRows(
    db,
    sql<Pick<MemberRow, 'user_id' | 'email'>>`
      select user_id, email from members where organization_id = ${organizationId} order by email_key limit ${QUOTAS.members}`,
  );
  return rows.map(({ user_id: userId, email }) => ({ userId, email }));
}

/** Finds a member or an invitation by the lower-case e-mail. */
export const findMemberByEmail = (db: Db, organizationId: string, key: string): Promise<MemberRow | undefined> =>
  firstRow(db, sql<MemberRow>`select * from members where organization_id = ${organizationId} and email_key = ${key}`);

/**
 * Stores an invitation, in a transaction. Rejects on a unique constraint if the e-mail belongs to a member or an invitation.
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
  return oneRow(
    transaction,
    sql<MemberRow>`
      insert into members (organization_id, user_id, email, email_key, email_proven, role, status, created_at, updated_at)
      values (${organizationId}, ${newId('usr')}, ${email}, ${emailKey(email)}, 0, ${role}, 'invited', ${now}, ${now})
      returning *`,
  );
}

/** Ids of the people whom an issuer identifies by this id of a directory. The query sees all organizations. */
export async function findByDirectoryId(db: Db, directoryId: string): Promise<string[]> {
  const rows = await asService(() =>
    allRows(db, sql<Pick<UserRow, 'user_id'>>`select user_id from users where directory_id = ${directoryId}`),
  );
  return rows.map(({ user_id }) => user_id);
}

/**
 * Gives the directory's e-mail to a member without a verified one, in a transaction. Otherwise a directory would invite the
 * founder of its organization again, and could not remove them.
 */
export async function nameMember(
  db: Db,
  organizationId: string,
  userIds: readonly string[],
  email: string,
): Promise<void> {
  if (userIds.length === 0 || (await findMemberByEmail(db, organizationId, emailKey(email)))) return;
  await sql`
    update members set email = ${email}, email_key = ${emailKey(email)}
    where organization_id = ${organizationId} and email_key is null and user_id in (${sql.join(userIds)})`.execute(db);
}

/** Records that the invitation was mailed. @returns undefined if it was accepted or withdrawn meanwhile */
export const markMailed = (db: Db, row: MemberRow, linkExpiresAt: number | undefined, now: number) =>
  firstRow(
    db,
    sql<MemberRow>`
      update members set mailed_at = ${now}, link_expires_at = ${linkExpiresAt ?? null}, updated_at = ${now}
      where organization_id = ${row.organization_id} and user_id = ${row.user_id} and status = 'invited'
      returning *`,
  );

/** Withdraws an invitation that was never mailed. @returns false if it was accepted or withdrawn meanwhile */
export const removeUnmailed = async (db: Db, { organization_id, user_id }: MemberRow): Promise<boolean> =>
  (await changedRows(
    db,
    sql`
      delete from members
      where organization_id = ${organization_id} and user_id = ${user_id} and status = 'invited'
        and mailed_at is null`,
  )) > 0;

export async function removeMember(db: Db, { organization_id, user_id }: MemberRow): Promise<void> {
  await sql`delete from members where organization_id = ${organization_id} and user_id = ${user_id}`.execute(db);
}

export const updateRole = (db: Db, { organization_id, user_id }: MemberRow, role: Role, now: number) =>
  oneRow(
    db,
    sql<MemberRow>`
      update members set role = ${role}, updated_at = ${now}
      where organization_id = ${organization_id} and user_id = ${user_id}
      returning *`,
  );
