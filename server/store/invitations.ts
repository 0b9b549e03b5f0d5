import { sql } from 'kysely';
import { type HappenedIn, recordInAll } from './audit.ts';
import { person } from './audit-chain.ts';
import { emailKey } from './columns.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, MemberRow, OrganizationRow, UserRow } from './schema.ts';
import { asService } from './tenant.ts';

/** A membership or an invitation; a membership has the issuer of the member. */
export type Offer = Pick<MemberRow, 'user_id' | 'organization_id' | 'status'> & { issuer: UserRow['issuer'] | null };

/** All memberships and invitations of the e-mail. */
export const findByEmail = (db: Db, email: string): Promise<Offer[]> =>
  allRows(
    db,
    sql<Offer>`
      select members.user_id, members.organization_id, members.status, users.issuer
      from members left join users on users.user_id = members.user_id
      where members.email_key = ${emailKey(email)}`,
  );

/** Whether a member of any organization has verified this e-mail. The query sees all organizations. */
export async function isMemberAnywhere(db: Db, email: string): Promise<boolean> {
  const found = await asService(() => findByEmail(db, email));
  return found.some(({ status }) => status === 'active');
}

/** A bound on a list of invitations, because any organization may invite any e-mail. */
const MOST_OFFERS = 100;

/** The invitations of an e-mail, latest first, because a person usually looks for the latest one. */
export const listInvitationsOf = (db: Db, email: string) =>
  allRows(
    db,
    sql<Pick<MemberRow, 'organization_id' | 'user_id' | 'role'> & Pick<OrganizationRow, 'name'>>`
      select members.organization_id, members.user_id, members.role, organizations.name
      from members join organizations on organizations.organization_id = members.organization_id
      where members.email_key = ${emailKey(email)} and members.status = 'invited'
      order by members.created_at desc, members.user_id desc limit ${MOST_OFFERS}`,
  );

/** The invitation of an e-mail to one organization. */
export const findInvitation = (db: Db, organizationId: string, email: string) =>
  firstRow(
    db,
    sql<Pick<MemberRow, 'user_id'>>`
      select user_id from members
      where organization_id = ${organizationId} and email_key = ${emailKey(email)} and status = 'invited'`,
  );

/**
 * Makes the person an active member, and declines all other invitations of their e-mail. Rejects on a unique constraint
 * if they belong to an organization.
 * @returns false if the invitation no longer exists
 */
export async function acceptInvitation(
  db: Db,
  invitedId: string,
  { userId, email }: { userId: string; email: string },
  now: number,
): Promise<boolean> {
  await lockPerson(db, userId);
  const accepted = await firstRow(
    db,
    sql<Pick<MemberRow, 'organization_id' | 'role'>>`
      update members set user_id = ${userId}, status = 'active', joined_at = ${now}, updated_at = ${now}
      where user_id = ${invitedId} and status = 'invited'
      returning organization_id, role`,
  );
  if (!accepted) return false;
  const declined = await declineInvitations(db, email);
  const { organization_id: organizationId, role } = accepted;
  const actor = person(userId);
  // The invitation has another id if the person was known before.
  const details = { role, invitation: invitedId };
  const accepting = { organizationId, actor, action: 'member.invitation_accepted', target: actor, details } as const;
  await recordInAll(db, [accepting, ...declined], now);
  return true;
}

/**
 * Ends the invitations of an e-mail.
 * @returns the entries for the audit logs of their organizations, which know the person only by the id of the invitation
 */
export async function declineInvitations(db: Db, email: string): Promise<HappenedIn[]> {
  const ended = await allRows(
    db,
    sql<Pick<MemberRow, 'organization_id' | 'user_id'>>`
      delete from members where email_key = ${emailKey(email)} and status = 'invited'
      returning organization_id, user_id`,
  );
  return ended.map(({ organization_id: organizationId, user_id }) => ({
    organizationId,
    actor: person(user_id),
    action: 'member.invitation_ended',
    target: person(user_id),
  }));
}

/**
 * Locks the person until the transaction ends, so that two transactions that join and decline invitations cannot deadlock. An
 * update locks the row on both engines.
 */
export const lockPerson = (db: Db, userId: string) =>
  sql`update users set user_id = user_id where user_id = ${userId}`.execute(db);
