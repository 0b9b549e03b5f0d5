import { randomBytes } from 'node:crypto';
import type { Organization } from '../../contract/organization.ts';
import { newId } from '../ids.ts';
import type { Db } from './open.ts';
import { emailKey } from './people.ts';
import type { OrganizationRow } from './schema.ts';
import { toTimestamp } from './time.ts';

export const toOrganization = (row: OrganizationRow): Organization => ({
  organizationId: row.organization_id,
  name: row.name,
  status: row.status,
  ownerUserId: row.owner_user_id,
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

export interface Founder {
  userId: string;
  email: string | undefined;
  emailVerified: boolean;
}

/** Creates the organization with its owner as the first member. Rejects on a unique constraint when they have one. */
export function createOrganization(db: Db, name: string, owner: Founder, now: number): Promise<OrganizationRow> {
  const organizationId = newId('org');
  return db.transaction().execute(async (transaction) => {
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
        email_key: owner.emailVerified && owner.email ? emailKey(owner.email) : null,
        role: 'owner',
        status: 'active',
        joined_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute();
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
