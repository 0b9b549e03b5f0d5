import { sql } from 'kysely';
import type { Role } from '../../contract/organization.ts';
import type { Claims } from '../claims.ts';
import { newId } from '../ids.ts';
import { recordAction, recordInAll } from './audit.ts';
import { type Happened, person } from './audit-chain.ts';
import { emailKey } from './columns.ts';
import { uniqueViolation } from './dialect.ts';
import {
  acceptInvitation,
  declineInvitations,
  findByEmail,
  findProof,
  isMemberAnywhere,
  listInvitationsOf,
  type Membership,
  type Offer,
  type Proof,
} from './invitations.ts';
import { changedRows, firstRow, oneRow } from './rows.ts';
import type { Db, UserRow } from './schema.ts';

/** A signed-in person, and their membership if they have one. */
export interface Caller {
  userId: string;
  email: string | undefined;
  emailVerified: boolean;
  membership?: { organizationId: string; role: Role; tenantAssigned: boolean };
}

/**
 * Finds the person with these claims. A new person is stored. A person whom exactly one invitation names
 * becomes an active member, unless the claims require the person's consent. Otherwise nothing is written.
 */
export async function resolveCaller(db: Db, claims: Claims, now: number): Promise<Caller> {
  const known = await findPerson(db, claims);
  // An access token may come without the e-mail; then the stored one is kept.
  const isSameEmail = known?.email === claims.email && known?.email_verified === Number(claims.emailVerified);
  const isSameId = claims.directoryId === undefined || known?.directory_id === claims.directoryId;
  const isCurrent = known && isSameId && (claims.email === undefined || isSameEmail);
  if (isCurrent && (known.organization_id !== null || !(await findOffer(db, claims)))) return toCaller(claims, known);
  await admit(db, claims, now).catch((error) => {
    if (uniqueViolation(error) === undefined) throw error;
    // The first requests of a dashboard arrive at the same time, and another one stored the person first.
    return admit(db, claims, now);
  });
  const stored = await findPerson(db, claims);
  if (!stored) throw new Error('a person who was just stored cannot be found');
  return toCaller(claims, stored);
}

const admit = (db: Db, claims: Claims, now: number) =>
  db.transaction().execute(async (transaction) => {
    const known = await findPerson(transaction, claims);
    const offer = known && known.organization_id !== null ? undefined : await findOffer(transaction, claims);
    if (offer && 'issuer' in offer && (await takeOver(transaction, claims, offer, now))) return;
    const invitedId = offer && 'role' in offer ? offer.user_id : undefined;
    const userId = await writePerson(transaction, claims, invitedId, now);
    if (known && claims.emailVerified && claims.email) await proveMember(transaction, known, claims.email, now);
    if (invitedId === undefined) return;
    await acceptInvitation(transaction, invitedId, { userId, proof: await findProof(transaction, claims) }, now);
  });

/**
 * Finds the membership of a person without an organization: the only invitation that names them, or the membership of their
 * verified e-mail under another issuer. With several invitations the person must choose. Where anyone may sign up, they must
 * accept: otherwise a stranger's organization could collect the sessions of people who never agreed to join.
 */
async function findOffer(db: Db, claims: Claims): Promise<Membership | Offer | undefined> {
  const { adoptsMembers, asksBeforeJoining, email, emailVerified, issuer } = claims;
  const member = adoptsMembers && emailVerified && email ? await findByEmail(db, email) : undefined;
  if (member && member.issuer !== issuer) return member;
  const offers = asksBeforeJoining ? [] : await listInvitationsOf(db, await findProof(db, claims));
  return offers.length === 1 ? offers[0] : undefined;
}

/**
 * Moves a member to another issuer. The id stays, because other rows refer to it.
 * @returns false if another request was faster
 */
async function takeOver(db: Db, claims: Claims, member: Membership, now: number): Promise<boolean> {
  const { issuer, subject, email = null } = claims;
  // A person who signed in before the operator allowed this has a separate row without an organization.
  await sql`
    delete from users where issuer = ${issuer} and subject = ${subject} and user_id <> ${member.user_id}`.execute(db);
  const changed = await changedRows(
    db,
    sql`
      update users set issuer = ${issuer}, subject = ${subject}, email = ${email}, email_verified = 1, updated_at = ${now}
      where user_id = ${member.user_id} and issuer = ${member.issuer}`,
  );
  if (changed !== 1) return false;
  // The new issuer does not know the owner's organization yet.
  await sql`
    update organizations set tenant_assigned = 0
    where organization_id = ${member.organization_id} and owner_user_id = ${member.user_id}`.execute(db);
  return true;
}

/** Deletes a person, who must have left their organization, and the directory users and invitations that name them. */
export async function deletePerson(db: Db, userId: string, { email, directoryId }: Proof, now: number): Promise<void> {
  await recordInAll(db, await declineInvitations(db, { email, directoryId }), now);
  await sql`
    delete from directory_users
    where member_key = ${email === undefined ? null : emailKey(email)} or external_id = ${directoryId ?? null}`.execute(
    db,
  );
  await sql`delete from users where user_id = ${userId}`.execute(db);
}

/**
 * Records a sign-in at the embedded identity provider in the audit log. Writes nothing for a person who is not a member yet,
 * because joining has its own entry.
 */
export const recordSignIn = (db: Db, identity: Pick<Claims, 'issuer' | 'subject'>, now: number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const found = await findPerson(transaction, identity);
    if (found?.organization_id) await recordAction(transaction, found.organization_id, signedIn(found.user_id), now);
  });

/** Records that a member is signed in at an external identity provider, unless that was recorded since `before`. */
export const recordSeen = (
  db: Db,
  organizationId: string,
  userId: string,
  { at, before }: { at: number; before: number },
): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const noted = await changedRows(
      transaction,
      sql`
        update users set signed_in_at = ${at}
        where user_id = ${userId} and (signed_in_at is null or signed_in_at <= ${before})`,
    );
    if (noted > 0) await recordAction(transaction, organizationId, signedIn(userId), at);
  });

const signedIn = (userId: string): Happened => ({
  actor: person(userId),
  action: 'member.signed_in',
  target: person(userId),
});

interface Person extends Pick<UserRow, 'user_id' | 'email' | 'email_verified' | 'directory_id'> {
  organization_id: string | null;
  role: Role | null;
  tenant_assigned: number | null;
}

const findPerson = (db: Db, { issuer, subject }: Pick<Claims, 'issuer' | 'subject'>): Promise<Person | undefined> =>
  firstRow(
    db,
    sql<Person>`
      select users.user_id, users.email, users.email_verified, users.directory_id,
        members.organization_id, members.role, organizations.tenant_assigned
      from users
      left join members on members.user_id = users.user_id and members.status = 'active'
      left join organizations on organizations.organization_id = members.organization_id
      where users.issuer = ${issuer} and users.subject = ${subject}`,
  );

function toCaller(claims: Claims, found: Person): Caller {
  const caller = { userId: found.user_id, email: claims.email, emailVerified: claims.emailVerified };
  if (found.organization_id === null || found.role === null) return caller;
  return {
    ...caller,
    membership: {
      organizationId: found.organization_id,
      role: found.role,
      tenantAssigned: found.tenant_assigned === 1,
    },
  };
}

/** Stores the verified e-mail of a member who joined or founded the organization without proving it. */
async function proveMember(db: Db, { user_id, organization_id }: Person, email: string, now: number): Promise<void> {
  if (organization_id === null || (await isMemberAnywhere(db, email))) return;
  await recordInAll(db, await declineInvitations(db, { email }), now);
  await sql`
    update members set email = ${email}, email_key = ${emailKey(email)}, email_proven = 1
    where user_id = ${user_id} and (email_key is null or (email_key = ${emailKey(email)} and status = 'active'))`.execute(
    db,
  );
}

/** Stores the person. A new person gets the id of their invitation, because other rows refer to it. */
async function writePerson(db: Db, claims: Claims, invitedId: string | undefined, now: number): Promise<string> {
  const email = claims.email ?? null;
  const isVerified = Number(claims.emailVerified);
  const { user_id } = await oneRow(
    db,
    sql<Pick<UserRow, 'user_id'>>`
      insert into users (user_id, issuer, subject, email, email_verified, directory_id, created_at, updated_at)
      values (${invitedId ?? newId('usr')}, ${claims.issuer}, ${claims.subject}, ${email}, ${isVerified},
        ${claims.directoryId ?? null}, ${now}, ${now})
      on conflict (issuer, subject) do update set email = excluded.email, email_verified = excluded.email_verified,
        directory_id = excluded.directory_id, updated_at = excluded.updated_at
      returning user_id`,
  );
  return user_id;
}
