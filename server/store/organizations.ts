import { randomBytes } from 'node:crypto';
import type { Organization } from '../../contract/organization.ts';
import { newId } from '../ids.ts';
import { emailKey } from './email.ts';
import { declineInvitations, lockPerson } from './invitations.ts';
import type { Db } from './open.ts';
import type { OrganizationRow } from './schema.ts';
import { toTimestamp } from './time.ts';

export const toOrganization = (row: OrganizationRow): Organization => ({
  organizationId: row.organization_id,
  name: row.name,
  status: 'active',
  ownerUserId: row.owner_user_id,
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

export interface Founder {
  userId: string;
  email: string | undefined;
  emailVerified: boolean;
}

/**
 * Creates the organization with its owner as the first member, who thereby declines all invitations. Rejects on a unique
 * constraint when they have one, or when their e-mail is a member's who signs in otherwise.
 */
export function createOrganization(db: Db, name: string, owner: Founder, now: number): Promise<OrganizationRow> {
  const organizationId = newId('org');
  const proven = owner.emailVerified && owner.email ? owner.email : undefined;
  return db.transaction().execute(async (transaction) => {
    await lockPerson(transaction, owner.userId);
    const values = {
      organization_id: organizationId,
      name,
      status: 'active' as const,
      owner_user_id: owner.userId,
      tenant_assigned: 0,
      created_at: now,
      updated_at: now,
    };
    const slug = toSlug(name);
    // Only the insertion itself can tell that a slug is free: another may be created at the same moment.
    const row =
      (await insertWithSlug(transaction, { ...values, slug })) ??
      (await insertWithSlug(transaction, { ...values, slug: `${slug}-${randomBytes(4).toString('hex')}` }));
    if (!row) throw new Error('no slug could be found for the organization');
    await transaction
      .insertInto('members')
      .values({
        organization_id: organizationId,
        user_id: owner.userId,
        email: owner.email ?? '',
        email_key: proven === undefined ? null : emailKey(proven),
        role: 'owner',
        status: 'active',
        mailed_at: null,
        link_expires_at: null,
        joined_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute();
    if (proven !== undefined) await declineInvitations(transaction, proven);
    return row;
  });
}

const insertWithSlug = (db: Db, row: OrganizationRow) =>
  db
    .insertInto('organizations')
    .values(row)
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst();

/** The name in lower-case letters, digits and hyphens. */
function toSlug(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (
    plain
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 48)
      .replace(/^-|-$/g, '') || 'organization'
  );
}

export const findOrganization = (db: Db, organizationId: string) =>
  db.selectFrom('organizations').selectAll().where('organization_id', '=', organizationId).executeTakeFirstOrThrow();

export const renameOrganization = (db: Db, organizationId: string, name: string, now: number) =>
  db
    .updateTable('organizations')
    .set({ name, updated_at: now })
    .where('organization_id', '=', organizationId)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Notes that the identity provider knows whom the owner belongs to. */
export const markTenantAssigned = (db: Db, organizationId: string) =>
  db.updateTable('organizations').set({ tenant_assigned: 1 }).where('organization_id', '=', organizationId).execute();

/**
 * Runs `change` in a transaction, one at a time in an organization: what depends on who else is an owner must not happen
 * beside another such change.
 */
export const changeMembers = <Result>(db: Db, organizationId: string, change: (db: Db) => Promise<Result>) =>
  db.transaction().execute(async (transaction) => {
    // An update locks the row on either engine.
    await transaction
      .updateTable('organizations')
      .set({ organization_id: organizationId })
      .where('organization_id', '=', organizationId)
      .execute();
    return change(transaction);
  });

/**
 * Lets the organization name an owner who is one: the present one, else whoever has been it the longest.
 * @returns false when nobody is left
 */
export async function settleOwner(db: Db, organizationId: string, now: number): Promise<boolean> {
  const owners = await db
    .selectFrom('members')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active')
    .where('role', '=', 'owner')
    .orderBy('joined_at')
    .orderBy('user_id')
    .execute();
  const { owner_user_id: named } = await findOrganization(db, organizationId);
  if (owners.length > 0 && !owners.some(({ user_id }) => user_id === named)) {
    await nameOwner(db, organizationId, String(owners[0]?.user_id), now);
  }
  return owners.length > 0;
}

export const nameOwner = (db: Db, organizationId: string, userId: string, now: number) =>
  db
    .updateTable('organizations')
    .set({ owner_user_id: userId, updated_at: now })
    .where('organization_id', '=', organizationId)
    .returningAll()
    .executeTakeFirstOrThrow();
