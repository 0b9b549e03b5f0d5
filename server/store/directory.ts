import { sql } from 'kysely';
import type { DirectoryToken, ScimAttributes } from '../../contract/directory.ts';
import { newId } from '../ids.ts';
import { emailKey, optionalTimestamp, toTimestamp } from './columns.ts';
import { assertRoom } from './quotas.ts';
import { allRows, changedRows, firstRow, NONE, oneRow } from './rows.ts';
import type { Db, DirectoryTokenRow, DirectoryUserRow, MemberRow } from './schema.ts';
import { USES_APART_MS } from './secrets.ts';

/** A token, and the role that the person who issued it has now, if they are a member. */
export interface IssuedToken extends DirectoryTokenRow {
  issuer_role: MemberRow['role'] | null;
}

export const toDirectoryToken = (row: IssuedToken): DirectoryToken => ({
  tokenId: row.token_id,
  lastFour: row.last_four,
  createdBy: row.created_by,
  issuerIsOwner: row.issuer_role === 'owner',
  createdAt: toTimestamp(row.created_at),
  ...optionalTimestamp('lastUsedAt', row.last_used_at),
});

export const findDirectoryToken = (db: Db, organizationId: string) =>
  firstRow(
    db,
    sql<IssuedToken>`
      select directory_tokens.*, members.role as issuer_role
      from directory_tokens
      left join members on members.organization_id = directory_tokens.organization_id
        and members.user_id = directory_tokens.created_by and members.status = 'active'
      where directory_tokens.organization_id = ${organizationId}`,
  );

/** Finds a token by its hash in all organizations, because the organization is not known yet. */
export const findDirectoryByHash = (db: Db, hash: string) =>
  firstRow(db, sql<DirectoryTokenRow>`select * from directory_tokens where hash = ${hash}`);

/** Records a use, unless one was recorded less than a minute before. */
export const markDirectoryUsed = (db: Db, organizationId: string, tokenId: string, at: number) =>
  sql`
    update directory_tokens set last_used_at = ${at}
    where organization_id = ${organizationId} and token_id = ${tokenId}
      and (last_used_at is null or last_used_at <= ${at - USES_APART_MS})`.execute(db);

/** Stores the token, which replaces the previous one. */
export const replaceDirectoryToken = (
  transaction: Db,
  organizationId: string,
  { hash, lastFour, createdBy }: { hash: string; lastFour: string; createdBy: string },
  now: number,
) =>
  oneRow(
    transaction,
    sql<DirectoryTokenRow>`
      insert into directory_tokens (organization_id, token_id, hash, last_four, created_by, created_at)
      values (${organizationId}, ${newId('dit', now)}, ${hash}, ${lastFour}, ${createdBy}, ${now})
      on conflict (organization_id) do update set token_id = excluded.token_id, hash = excluded.hash,
        last_four = excluded.last_four, created_by = excluded.created_by, created_at = excluded.created_at,
        last_used_at = null
      returning *`,
  );

/** @returns whether there was a token */
export const removeDirectoryToken = async (transaction: Db, organizationId: string): Promise<boolean> =>
  (await changedRows(transaction, sql`delete from directory_tokens where organization_id = ${organizationId}`)) > 0;

/** The attributes by which a directory may search for users. */
export const FILTERED = ['id', 'userName', 'externalId', 'emails.value'] as const;
export interface UserFilter {
  name: (typeof FILTERED)[number];
  value: string;
}

/** A user of the directory, with the role and status of their membership or invitation. */
export interface KnownUser extends DirectoryUserRow {
  role: MemberRow['role'] | null;
  status: MemberRow['status'] | null;
}

const KNOWN = sql`
  select directory_users.*, members.role, members.status
  from directory_users
  left join members on members.organization_id = directory_users.organization_id
    and members.email_key = directory_users.member_key`;

export const findDirectoryUser = (db: Db, organizationId: string, id: string) =>
  firstRow(
    db,
    sql<KnownUser>`
      ${KNOWN} where directory_users.organization_id = ${organizationId} and directory_user_id = ${id}`,
  );

/** Lists the users of the directory that match the filter, earliest first. */
export const listDirectoryUsers = (
  db: Db,
  organizationId: string,
  { filter, offset, limit }: { filter: UserFilter | undefined; offset: number; limit: number },
) =>
  allRows(
    db,
    sql<KnownUser>`
      ${KNOWN} where directory_users.organization_id = ${organizationId} ${fitting(filter)}
      order by directory_users.created_at, directory_user_id limit ${limit} offset ${offset}`,
  );

export const countDirectoryUsers = async (db: Db, organizationId: string, filter: UserFilter | undefined) =>
  Number(
    (
      await oneRow(
        db,
        sql<{ count: number }>`
          select count(*) as count from directory_users where organization_id = ${organizationId} ${fitting(filter)}`,
      )
    ).count,
  );

function fitting(filter: UserFilter | undefined) {
  if (filter === undefined) return NONE;
  const { name, value } = filter;
  if (name === 'id') return sql`and directory_user_id = ${value}`;
  if (name === 'externalId') return sql`and external_id = ${value}`;
  return sql`and ${sql.ref(name === 'userName' ? 'user_key' : 'member_key')} = ${emailKey(value)}`;
}

/** Adds the members that the directory does not know yet as its users, so that it finds them by their e-mail. */
export async function adoptMembers(db: Db, organizationId: string, now: number): Promise<void> {
  const unknown = await allRows(
    db,
    sql<{ email: string; email_key: string }>`
      select email, email_key from members
      where organization_id = ${organizationId} and email_key is not null
        and not exists (
          select 1 from directory_users
          where directory_users.organization_id = ${organizationId}
            and (directory_users.member_key = members.email_key or directory_users.user_key = members.email_key))`,
  );
  for (const { email, email_key } of unknown) {
    const attributes = { userName: email, emails: [{ value: email, type: 'work', primary: true }] };
    const user = { attributes, memberKey: email_key };
    await sql`${insertion(organizationId, user, now)} on conflict do nothing`.execute(db);
  }
}

interface NewUser {
  attributes: ScimAttributes;
  memberKey: string;
}

const insertion = (organizationId: string, { attributes, memberKey }: NewUser, now: number) => sql`
  insert into directory_users (directory_user_id, organization_id, user_key, member_key, external_id, attributes,
    created_at, updated_at)
  values (${newId('dir', now)}, ${organizationId}, ${emailKey(attributes.userName)}, ${memberKey},
    ${attributes.externalId ?? null}, ${JSON.stringify(attributes)}, ${now}, ${now})`;

/**
 * Adds a user, in a transaction. Rejects on a unique constraint if the user name or the e-mail is taken.
 * @throws Problem `quota_reached`
 */
export async function insertDirectoryUser(transaction: Db, organizationId: string, user: NewUser, now: number) {
  await assertRoom(transaction, 'directory_users', organizationId, now);
  const inserted = sql<DirectoryUserRow>`${insertion(organizationId, user, now)} returning *`;
  return oneRow(transaction, inserted);
}

/** Changes a user. Rejects on a unique constraint if the user name or the e-mail is taken. */
export const updateDirectoryUser = (
  transaction: Db,
  { organization_id, directory_user_id }: DirectoryUserRow,
  { attributes, memberKey }: NewUser,
  now: number,
) =>
  sql`
    update directory_users
    set user_key = ${emailKey(attributes.userName)}, member_key = ${memberKey},
      external_id = ${attributes.externalId ?? null}, attributes = ${JSON.stringify(attributes)}, updated_at = ${now}
    where organization_id = ${organization_id} and directory_user_id = ${directory_user_id}`.execute(transaction);

export const removeDirectoryUser = (transaction: Db, { organization_id, directory_user_id }: DirectoryUserRow) =>
  sql`
    delete from directory_users
    where organization_id = ${organization_id} and directory_user_id = ${directory_user_id}`.execute(transaction);
