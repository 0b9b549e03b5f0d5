import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { emailKey } from '../../store/columns.ts';
import { changedRows, firstRow } from '../../store/rows.ts';
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

/** Creates a link. */
export async function issueLink(db: Db, purpose: Purpose, email: string | null, now: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await sql`
    insert into links (token_hash, purpose, email, created_at, expires_at)
    values (${hashOf(token)}, ${purpose}, ${email === null ? null : emailKey(email)}, ${now},
      ${now + LINK_LIFE_MS[purpose]})`.execute(db);
  return token;
}

/**
 * Creates a link and mails it. Earlier links with the same purpose and e-mail then stop working. If the mail fails, they stay
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
  await send(token).catch(async (error) => {
    await sql`delete from links where token_hash = ${hashOf(token)} and used_at is null`.execute(db);
    throw error;
  });
  await sql`
    delete from links
    where purpose = ${purpose} and email = ${emailKey(email)} and token_hash <> ${hashOf(token)}
      and created_at <= ${now} and used_at is null`.execute(db);
}

/** The link, if it can still be used. */
export const findLink = (db: Db, purpose: Purpose, token: string, now: number): Promise<LinkRow | undefined> =>
  firstRow(
    db,
    sql<LinkRow>`
      select * from links
      where token_hash = ${hashOf(token)} and purpose = ${purpose} and used_at is null and expires_at > ${now}`,
  );

/** Marks the link as used. Exactly one of several concurrent callers gets `true`. */
export const spendLink = async (db: Db, link: LinkRow, now: number): Promise<boolean> =>
  (await changedRows(
    db,
    sql`
      update links set used_at = ${now}
      where token_hash = ${link.token_hash} and used_at is null and expires_at > ${now}`,
  )) === 1;

/** Once an account exists, no other link may create a first one. */
export async function dropFirstAccountLinks(db: Db): Promise<void> {
  await sql`delete from links where purpose = 'first_account' and used_at is null`.execute(db);
}

export async function purgeLinks(db: Db, now: number): Promise<void> {
  await sql`delete from links where expires_at < ${now - KEEP_MS}`.execute(db);
}
