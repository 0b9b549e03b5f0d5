import { emailKey } from './email.ts';
import type { Db } from './open.ts';
import { asService } from './tenant.ts';

/** Everywhere the e-mail is a member or invited, with the issuer at which a member signs in. */
export const findByEmail = (db: Db, email: string) =>
  db
    .selectFrom('members')
    .leftJoin('users', 'users.user_id', 'members.user_id')
    .select(['members.user_id', 'members.organization_id', 'members.status', 'users.issuer'])
    .where('members.email_key', '=', emailKey(email))
    .execute();

/** Whether a member of any organization has proven this e-mail; asked for all organizations, whoever asks. */
export async function isMemberAnywhere(db: Db, email: string): Promise<boolean> {
  const found = await asService(() => findByEmail(db, email));
  return found.some(({ status }) => status === 'active');
}

/** Any organization may invite any e-mail, so a list of invitations is cut here. */
const MOST_OFFERS = 100;

/** The organizations that wait for an answer of this e-mail's holder, those that asked first. */
export const listInvitationsOf = (db: Db, email: string) =>
  db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.organization_id', 'members.organization_id')
    .select(['members.organization_id', 'members.user_id', 'members.role', 'organizations.name'])
    .where('members.email_key', '=', emailKey(email))
    .where('members.status', '=', 'invited')
    .orderBy('members.created_at')
    .orderBy('members.user_id')
    .limit(MOST_OFFERS)
    .execute();

/** The invitation of one organization that waits for this e-mail. */
export const findInvitation = (db: Db, organizationId: string, email: string) =>
  db
    .selectFrom('members')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('email_key', '=', emailKey(email))
    .where('status', '=', 'invited')
    .executeTakeFirst();

/**
 * Makes the person an active member, and answers all other invitations of their e-mail with no. Rejects on a unique
 * constraint when they belong to an organization.
 * @returns false when the invitation is no longer there
 */
export async function acceptInvitation(
  db: Db,
  invitedId: string,
  { userId, email }: { userId: string; email: string },
  now: number,
): Promise<boolean> {
  await lockPerson(db, userId);
  const { numUpdatedRows } = await db
    .updateTable('members')
    .set({ user_id: userId, status: 'active', joined_at: now, updated_at: now })
    .where('user_id', '=', invitedId)
    .where('status', '=', 'invited')
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await declineInvitations(db, email);
  return true;
}

export const declineInvitations = (db: Db, email: string) =>
  db.deleteFrom('members').where('email_key', '=', emailKey(email)).where('status', '=', 'invited').execute();

/**
 * Lets a person do one thing at a time until the transaction ends: to join here while declining there and the reverse
 * would wait for each other. An update locks the row on either engine.
 */
export const lockPerson = (db: Db, userId: string) =>
  db.updateTable('users').set({ user_id: userId }).where('user_id', '=', userId).execute();
