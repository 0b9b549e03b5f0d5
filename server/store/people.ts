import type { Role } from '../../contract/organization.ts';
import type { Claims } from '../claims.ts';
import { newId } from '../ids.ts';
import { uniqueViolation } from './dialect.ts';
import { emailKey } from './email.ts';
import { acceptInvitation, declineInvitations, findByEmail, isMemberAnywhere } from './invitations.ts';
import type { Db } from './open.ts';

/** A signed-in person and their place in an organization, if they have one. */
export interface Caller {
  userId: string;
  email: string | undefined;
  emailVerified: boolean;
  membership?: { organizationId: string; role: Role; tenantAssigned: boolean };
}

/**
 * Who the bearer of these claims is. A person seen for the first time is written down; one whose verified e-mail is
 * invited by exactly one organization becomes an active member, unless the claims say to ask first. Otherwise nothing is
 * written.
 */
export async function resolveCaller(db: Db, claims: Claims, now: number): Promise<Caller> {
  const known = await findPerson(db, claims);
  // An access token may say nothing of the e-mail, and takes nothing back.
  const isSame = known?.email === claims.email && known?.email_verified === Number(claims.emailVerified);
  const isCurrent = known && (claims.email === undefined || isSame);
  if (isCurrent && (known.organization_id !== null || !(await findOffer(db, claims)))) return toCaller(claims, known);
  await admit(db, claims, now).catch((error) => {
    if (uniqueViolation(error) === undefined) throw error;
    // A dashboard's first requests come all at once, and another of them was faster.
    return admit(db, claims, now);
  });
  const person = await findPerson(db, claims);
  if (!person) throw new Error('a person who was just written down cannot be found');
  return toCaller(claims, person);
}

const admit = (db: Db, claims: Claims, now: number) =>
  db.transaction().execute(async (transaction) => {
    const known = await findPerson(transaction, claims);
    const offer = known && known.organization_id !== null ? undefined : await findOffer(transaction, claims);
    if (offer?.status === 'active' && (await takeOver(transaction, claims, offer, now))) return;
    const invitedId = offer?.status === 'invited' ? offer.user_id : undefined;
    const userId = await writePerson(transaction, claims, invitedId, now);
    if (known && claims.emailVerified && claims.email) await proveMember(transaction, known, claims.email);
    if (invitedId !== undefined && claims.email) {
      await acceptInvitation(transaction, invitedId, { userId, email: claims.email }, now);
    }
  });

type Offer = Awaited<ReturnType<typeof findByEmail>>[number];

/**
 * What the verified e-mail gives a person who belongs nowhere: the one invitation that waits for it, or the membership it
 * has under another issuer. The person is asked where several invitations wait, or where anyone may sign up: there, a
 * stranger's organization must not collect the sessions of people who never agreed to join it.
 */
async function findOffer(db: Db, claims: Claims): Promise<Offer | undefined> {
  if (!claims.emailVerified || !claims.email) return undefined;
  const offers = await findByEmail(db, claims.email);
  const member = offers.find(({ status }) => status === 'active');
  if (member) return claims.adoptsMembers && member.issuer !== claims.issuer ? member : undefined;
  return offers.length === 1 && !claims.asksBeforeJoining ? offers[0] : undefined;
}

/**
 * The member signs in at another issuer from now on, and keeps the id that all else names them by.
 * @returns false when another request was faster
 */
async function takeOver(db: Db, claims: Claims, member: Offer, now: number): Promise<boolean> {
  const { issuer, subject, email = null } = claims;
  // Who had come before the operator allowed this is here already, and belongs nowhere.
  await db
    .deleteFrom('users')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('user_id', '!=', member.user_id)
    .execute();
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ issuer, subject, email, email_verified: 1, updated_at: now })
    .where('user_id', '=', member.user_id)
    .where('issuer', '=', member.issuer)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  // This issuer has not been told where the owner belongs.
  await db
    .updateTable('organizations')
    .set({ tenant_assigned: 0 })
    .where('organization_id', '=', member.organization_id)
    .where('owner_user_id', '=', member.user_id)
    .execute();
  return true;
}

/** Forgets a person, and the invitations of an e-mail that they have proven. Those who belong to an organization leave it first. */
export async function deletePerson(db: Db, userId: string, provenEmail: string | undefined): Promise<void> {
  if (provenEmail !== undefined) await declineInvitations(db, provenEmail);
  await db.deleteFrom('users').where('user_id', '=', userId).execute();
}

type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>;

const findPerson = (db: Db, claims: Claims) =>
  db
    .selectFrom('users')
    .leftJoin('members', (join) =>
      join.onRef('members.user_id', '=', 'users.user_id').on('members.status', '=', 'active'),
    )
    .leftJoin('organizations', 'organizations.organization_id', 'members.organization_id')
    .select([
      'users.user_id',
      'users.email',
      'users.email_verified',
      'members.organization_id',
      'members.role',
      'organizations.tenant_assigned',
    ])
    .where('users.issuer', '=', claims.issuer)
    .where('users.subject', '=', claims.subject)
    .executeTakeFirst();

function toCaller(claims: Claims, person: Person): Caller {
  const caller = { userId: person.user_id, email: claims.email, emailVerified: claims.emailVerified };
  if (person.organization_id === null || person.role === null) return caller;
  return {
    ...caller,
    membership: {
      organizationId: person.organization_id,
      role: person.role,
      tenantAssigned: person.tenant_assigned === 1,
    },
  };
}

/** A member who founded the organization before proving the e-mail is found by it from now on, as all others are. */
async function proveMember(db: Db, { user_id, organization_id }: Person, email: string): Promise<void> {
  if (organization_id === null || (await isMemberAnywhere(db, email))) return;
  await declineInvitations(db, email);
  await db
    .updateTable('members')
    .set({ email, email_key: emailKey(email) })
    .where('user_id', '=', user_id)
    .where('email_key', 'is', null)
    .execute();
}

/** A new person takes over the id their invitation was given, so that it keeps naming them. */
async function writePerson(db: Db, claims: Claims, invitedId: string | undefined, now: number): Promise<string> {
  const { user_id } = await db
    .insertInto('users')
    .values({
      user_id: invitedId ?? newId('usr'),
      issuer: claims.issuer,
      subject: claims.subject,
      email: claims.email ?? null,
      email_verified: Number(claims.emailVerified),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['issuer', 'subject']).doUpdateSet({
        email: claims.email ?? null,
        email_verified: Number(claims.emailVerified),
        updated_at: now,
      }),
    )
    .returning('user_id')
    .executeTakeFirstOrThrow();
  return user_id;
}
