import type { Role } from '../../contract/organization.ts';
import type { Claims } from '../identity/identity.ts';
import { newId } from '../ids.ts';
import { uniqueViolation } from './dialect.ts';
import type { Db } from './open.ts';

/** A signed-in person and their place in an organization, if they have one. */
export interface Caller {
  userId: string;
  email: string | undefined;
  emailVerified: boolean;
  membership?: { organizationId: string; role: Role; tenantAssigned: boolean };
}

/** Invitations and memberships are found by the e-mail without regard to case. */
export const emailKey = (email: string): string => email.trim().toLowerCase();

/**
 * Who the bearer of these claims is. A person seen for the first time is written down; one whose verified e-mail was
 * invited becomes an active member.
 */
export async function resolveCaller(db: Db, claims: Claims, now: number): Promise<Caller> {
  const known = await findPerson(db, claims);
  const current =
    known && known.email === (claims.email ?? null) && known.email_verified === Number(claims.emailVerified);
  if (known && current && known.organization_id !== null) return toCaller(claims, known);
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
    const invitation =
      claims.emailVerified && claims.email ? await findInvitation(transaction, claims.email) : undefined;
    const userId = await writePerson(transaction, claims, invitation?.user_id, now);
    if (invitation) await acceptInvitation(transaction, invitation.user_id, userId, now);
  });

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

const findInvitation = (db: Db, email: string) =>
  db
    .selectFrom('members')
    .select('user_id')
    .where('email_key', '=', emailKey(email))
    .where('status', '=', 'invited')
    .executeTakeFirst();

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

/** A person who already belongs to an organization stays there. */
async function acceptInvitation(db: Db, invitedId: string, userId: string, now: number): Promise<void> {
  if (invitedId !== userId) {
    const member = await db.selectFrom('members').select('user_id').where('user_id', '=', userId).executeTakeFirst();
    if (member) return;
  }
  await db
    .updateTable('members')
    .set({ user_id: userId, status: 'active', joined_at: now, updated_at: now })
    .where('user_id', '=', invitedId)
    .where('status', '=', 'invited')
    .execute();
}
