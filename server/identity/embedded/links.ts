import { createHash, randomBytes } from 'node:crypto';
import { emailKey } from '../../store/columns.ts';
import type { Db, LinkRow } from '../../store/schema.ts';

export type Purpose = LinkRow['purpose'];

/** How long a link works. */
export const LINK_LIFE_MS: Record<Purpose, number> = {
  first_account: 24 * 3_600_000,
  invitation: 7 * 24 * 3_600_000,
  password_reset: 3_600_000,
};

/** How long used and expired links are kept, for an operator's investigations. */
const KEEP_MS = 30 * 24 * 3_600_000;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

/** Makes a link. */
export async function issueLink(db: Db, purpose: Purpose, email: string | null, now: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await db
    .insertInto('links')
    .values({
      token_hash: hashOf(token),
      purpose,
      email: email === null ? null : emailKey(email),
      created_at: now,
      expires_at: now + LINK_LIFE_MS[purpose],
      used_at: null,
    })
    .execute();
  return token;
}

/**
 * Makes a link and mails it. Then earlier links with the same purpose and e-mail stop working. If the mail fails, they stay
 * valid.
 */
export async function mailLink(
  db: Db,
  purpose: Exclude<Purpose, 'first_account'>,
  email: string,
  now: number,
  send: (token: string) => Promise<void>,
): Promise<void> {
  const token = await issueLink(db, purpose, email, now);
  const unused = db.deleteFrom('links').where('used_at', 'is', null);
  await send(token).catch(async (error) => {
    await unused.where('token_hash', '=', hashOf(token)).execute();
    throw error;
  });
  await unused
    .where('purpose', '=', purpose)
    .where('email', '=', emailKey(email))
    .where('token_hash', '!=', hashOf(token))
    .where('created_at', '<=', now)
    .execute();
}

/** The link, if it can still be used. */
export const findLink = (db: Db, purpose: Purpose, token: string, now: number): Promise<LinkRow | undefined> =>
  db
    .selectFrom('links')
    .selectAll()
    .where('token_hash', '=', hashOf(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();

/** Marks the link as used. Exactly one of several concurrent callers gets `true`. */
export async function spendLink(db: Db, link: LinkRow, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('links')
    .set({ used_at: now })
    .where('token_hash', '=', link.token_hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Once there is an account, no other link may create a first one. */
export async function dropFirstAccountLinks(db: Db): Promise<void> {
  await db.deleteFrom('links').where('purpose', '=', 'first_account').where('used_at', 'is', null).execute();
}

export async function purgeLinks(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom('links')
    .where('expires_at', '<', now - KEEP_MS)
    .execute();
}
