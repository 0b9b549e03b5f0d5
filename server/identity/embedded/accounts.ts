import { sql } from 'kysely';
import { newUuid } from '../../ids.ts';
import { emailKey } from '../../store/columns.ts';
import { changedRows, firstRow } from '../../store/rows.ts';
import type { AccountRow, Db } from '../../store/schema.ts';
import { endAccount } from './records.ts';

export interface NewAccount {
  email: string;
  emailVerified: boolean;
  /** Encoded hash. */
  password: string;
}

export const findAccount = (db: Db, accountId: string): Promise<AccountRow | undefined> =>
  firstRow(db, sql<AccountRow>`select * from accounts where account_id = ${accountId}`);

export const findAccountByEmail = (db: Db, email: string): Promise<AccountRow | undefined> =>
  firstRow(db, sql<AccountRow>`select * from accounts where email_key = ${emailKey(email)}`);

/** Removes an account with its sign-ins. Its tokens stop working. Call it in a transaction. */
export async function removeAccount(db: Db, { account_id }: AccountRow): Promise<void> {
  await endAccount(db, account_id);
  await sql`delete from accounts where account_id = ${account_id}`.execute(db);
}

/** Removes the account, its sign-ins and the links that were mailed to it. Call it in a transaction. */
export async function deleteAccount(db: Db, accountId: string): Promise<void> {
  const account = await findAccount(db, accountId);
  if (!account) return;
  await sql`delete from links where email = ${account.email_key}`.execute(db);
  await removeAccount(db, account);
}

export const hasAccounts = async (db: Db): Promise<boolean> =>
  (await firstRow(db, sql`select 1 from accounts limit 1`)) !== undefined;

/** @returns the new account's id, or undefined if the e-mail already has an account */
export async function insertAccount(
  db: Db,
  { email, emailVerified, password }: NewAccount,
  now: number,
): Promise<string | undefined> {
  const id = newUuid(now);
  const inserted = await changedRows(
    db,
    sql`
      insert into accounts (account_id, email, email_key, email_verified, password, password_version, created_at,
        updated_at)
      values (${id}, ${email.trim()}, ${emailKey(email)}, ${Number(emailVerified)}, ${password}, 0, ${now}, ${now})
      on conflict (email_key) do nothing`,
  );
  return inserted === 1 ? id : undefined;
}

/** Sets the password of an account with a verified e-mail. Sign-ins and tokens of the earlier password end with this statement. */
export async function resetPassword(db: Db, accountId: string, password: string, now: number): Promise<void> {
  await sql`
    update accounts
    set password = ${password}, password_version = password_version + 1, updated_at = ${now}
    where account_id = ${accountId}`.execute(db);
}

/**
 * Prevents all others, on every replica, from creating a first account until the transaction ends. The update locks the row on
 * both engines.
 */
export async function lockFirstAccount(db: Db): Promise<void> {
  await sql`update settings set name = name where name = 'oidc_cookie_keys'`.execute(db);
}
