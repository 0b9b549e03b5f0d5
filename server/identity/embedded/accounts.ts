import { newUuid } from '../../ids.ts';
import { emailKey } from '../../store/columns.ts';
import type { AccountRow, Db } from '../../store/schema.ts';
import { revokeAccount } from './records.ts';

export interface NewAccount {
  email: string;
  emailVerified: boolean;
  /** Encoded hash. */
  password: string;
}

export const findAccount = (db: Db, accountId: string): Promise<AccountRow | undefined> =>
  db.selectFrom('accounts').selectAll().where('account_id', '=', accountId).executeTakeFirst();

export const findAccountByEmail = (db: Db, email: string): Promise<AccountRow | undefined> =>
  db.selectFrom('accounts').selectAll().where('email_key', '=', emailKey(email)).executeTakeFirst();

/** Removes the account, its sign-ins and the links that were mailed to it. */
export const deleteAccount = (db: Db, accountId: string): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const account = await findAccount(transaction, accountId);
    if (!account) return;
    await revokeAccount(transaction, accountId);
    await transaction.deleteFrom('links').where('email', '=', account.email_key).execute();
    await transaction.deleteFrom('accounts').where('account_id', '=', accountId).execute();
  });

export async function hasAccounts(db: Db): Promise<boolean> {
  return (await db.selectFrom('accounts').select('account_id').limit(1).executeTakeFirst()) !== undefined;
}

/** @returns the new account's id, or undefined when the e-mail has one already */
export async function insertAccount(db: Db, account: NewAccount, now: number): Promise<string | undefined> {
  const account_id = newUuid(now);
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('accounts')
    .values({
      account_id,
      email: account.email.trim(),
      email_key: emailKey(account.email),
      email_verified: Number(account.emailVerified),
      password: account.password,
      password_version: 0,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n ? account_id : undefined;
}

/** Sets the password of an account whose holder has just proven the e-mail. Tokens of the earlier password stop working. */
export async function resetPassword(db: Db, accountId: string, password: string, now: number): Promise<void> {
  await db
    .updateTable('accounts')
    .set(({ eb }) => ({
      password,
      password_version: eb('password_version', '+', 1),
      email_verified: 1,
      updated_at: now,
    }))
    .where('account_id', '=', accountId)
    .execute();
}

/**
 * Keeps all others, on every replica, from creating a first account until the transaction ends. An update locks the row on
 * both engines.
 */
export async function lockFirstAccount(db: Db): Promise<void> {
  const name = 'oidc_cookie_keys';
  await db.updateTable('settings').set({ name }).where('name', '=', name).execute();
}
