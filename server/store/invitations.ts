import { sql } from 'kysely';
import type { Claims } from '../claims.ts';
import { type HappenedIn, recordInAll } from './audit.ts';
import { person } from './audit-chain.ts';
import { emailKey } from './columns.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, MemberRow, OrganizationRow, UserRow } from './schema.ts';
import { asService } from './tenant.ts';

/** What a person has proven. An invitation names its person by one of these. */
export interface Proof {
  email?: string | undefined;
  /** The id in the directory that provisioned the person. */
  directoryId?: string | undefined;
}

/** A membership, with the issuer of the member. */
export type Membership = Pick<MemberRow, 'user_id' | 'organization_id'> & Pick<UserRow, 'issuer'>;

/** The membership of the person who has proven this e-mail. */
export const findByEmail = (db: Db, email: string) =>
  firstRow(
    db,
    sql<Membership>`
      select members.user_id, members.organization_id, users.issuer
      from members join users on users.user_id = members.user_id
      where members.email_key = ${emailKey(email)} and members.status = 'active' and members.email_proven = 1`,
  );

/** Whether a member of any organization has verified this e-mail. The query sees all organizations. */
export const isMemberAnywhere = async (db: Db, email: string): Promise<boolean> =>
  (await asService(() => findByEmail(db, email))) !== undefined;

/** What a token proves for invitations. The e-mail of a member proves nothing: another account of this person, or a reused address. */
export async function findProof(db: Db, { email, emailVerified, directoryId }: ProvenClaims): Promise<Proof> {
  const isFree = emailVerified && email && !(await isMemberAnywhere(db, email));
  return { ...(isFree && { email }), ...(directoryId !== undefined && { directoryId }) };
}

export type ProvenClaims = Pick<Claims, 'email' | 'emailVerified' | 'directoryId'>;

/** The invitations that name the person. Two subqueries, so that each engine uses an index for each. */
const naming = ({ email, directoryId }: Proof) => {
  const key = email === undefined ? null : emailKey(email);
  return sql`members.status = 'invited' and members.user_id in (
      select named.user_id from members named where named.email_key = ${key}
      union
      select provisioned.user_id from directory_users
      join members provisioned on provisioned.organization_id = directory_users.organization_id
        and provisioned.email_key = directory_users.member_key
      where directory_users.external_id = ${directoryId ?? null})`;
};

/** A bound on a list of invitations, because any organization may invite any e-mail. */
const MAX_OFFERS = 100;

export type Offer = Pick<MemberRow, 'organization_id' | 'user_id' | 'role'> & Pick<OrganizationRow, 'name'>;

/** The invitations of a person, latest first, because a person usually looks for the latest one. */
export const listInvitationsOf = (db: Db, proof: Proof) =>
  allRows(
    db,
    sql<Offer>`
      select members.organization_id, members.user_id, members.role, organizations.name
      from members join organizations on organizations.organization_id = members.organization_id
      where ${naming(proof)}
      order by members.created_at desc, members.user_id desc limit ${MAX_OFFERS}`,
  );

/** The invitation of a person to one organization. */
export const findInvitation = (db: Db, organizationId: string, proof: Proof) =>
  firstRow(
    db,
    sql<Pick<MemberRow, 'user_id'>>`
      select user_id from members where organization_id = ${organizationId} and ${naming(proof)}
      order by created_at desc, user_id desc limit 1`,
  );

/**
 * Makes the person an active member, and declines all other invitations that name them. Rejects on a unique constraint
 * if they belong to an organization.
 * @returns false if the invitation no longer exists
 */
export async function acceptInvitation(
  db: Db,
  invitedId: string,
  { userId, proof }: { userId: string; proof: Proof },
  now: number,
): Promise<boolean> {
  await lockPerson(db, userId);
  const accepted = await firstRow(
    db,
    sql<Pick<MemberRow, 'organization_id' | 'role'>>`
      update members set user_id = ${userId}, status = 'active', joined_at = ${now}, updated_at = ${now},
        email_proven = case when email_key = ${proof.email === undefined ? null : emailKey(proof.email)} then 1 else 0 end
      where user_id = ${invitedId} and status = 'invited'
      returning organization_id, role`,
  );
  if (!accepted) return false;
  const declined = await declineInvitations(db, proof);
  const { organization_id: organizationId, role } = accepted;
  const actor = person(userId);
  // The invitation has another id if the person was known before.
  const details = { role, invitation: invitedId };
  const accepting = { organizationId, actor, action: 'member.invitation_accepted', target: actor, details } as const;
  await recordInAll(db, [accepting, ...declined], now);
  return true;
}

/**
 * Ends the invitations that name the person.
 * @returns the entries for the audit logs of their organizations, which know the person only by the id of the invitation
 */
export async function declineInvitations(db: Db, proof: Proof): Promise<HappenedIn[]> {
  const ended = await allRows(
    db,
    sql<Pick<MemberRow, 'organization_id' | 'user_id'>>`
      delete from members where ${naming(proof)}
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
