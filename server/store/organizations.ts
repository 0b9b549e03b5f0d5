import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { Organization } from '../../contract/organization.ts';
import { newId } from '../ids.ts';
import { recordAction, recordInAll } from './audit.ts';
import { person } from './audit-chain.ts';
import { emailKey, toTimestamp } from './columns.ts';
import { declineInvitations, lockPerson } from './invitations.ts';
import { lockOrganization } from './quotas.ts';
import { allRows, firstRow, oneRow } from './rows.ts';
import type { Db, MemberRow, OrganizationRow } from './schema.ts';

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
 * Creates the organization with its owner as the first member, and declines the owner's invitations. Rejects on a unique
 * constraint if the person belongs to an organization, or a member with another account has their e-mail.
 */
export function createOrganization(db: Db, name: string, owner: Founder, now: number): Promise<OrganizationRow> {
  const organizationId = newId('org');
  const proven = owner.emailVerified && owner.email ? owner.email : undefined;
  return db.transaction().execute(async (transaction) => {
    await lockPerson(transaction, owner.userId);
    const slug = toSlug(name);
    const insert = (free: string) =>
      firstRow(
        transaction,
        sql<OrganizationRow>`
          insert into organizations (organization_id, name, slug, status, owner_user_id, tenant_assigned, created_at,
            updated_at)
          values (${organizationId}, ${name}, ${free}, 'active', ${owner.userId}, 0, ${now}, ${now})
          on conflict (slug) do nothing returning *`,
      );
    // Only the insertion shows whether a slug is free, because another request may take it at the same time.
    const row = (await insert(slug)) ?? (await insert(`${slug}-${randomBytes(4).toString('hex')}`));
    if (!row) throw new Error('no slug could be found for the organization');
    await sql`
      insert into members (organization_id, user_id, email, email_key, email_proven, role, status, joined_at, created_at,
        updated_at)
      values (${organizationId}, ${owner.userId}, ${owner.email ?? ''}, ${proven === undefined ? null : emailKey(proven)},
        ${proven === undefined ? 0 : 1}, 'owner', 'active', ${now}, ${now}, ${now})`.execute(transaction);
    const declined = proven === undefined ? [] : await declineInvitations(transaction, { email: proven });
    const actor = person(owner.userId);
    const target = { kind: 'organization', id: organizationId } as const;
    const created = { organizationId, actor, action: 'organization.created', target } as const;
    await recordInAll(transaction, [created, ...declined], now);
    return row;
  });
}

/** Converts the name to lower-case letters, digits and hyphens. */
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
  oneRow(db, sql<OrganizationRow>`select * from organizations where organization_id = ${organizationId}`);

export const renameOrganization = (db: Db, organizationId: string, name: string, now: number) =>
  oneRow(
    db,
    sql<OrganizationRow>`
      update organizations set name = ${name}, updated_at = ${now} where organization_id = ${organizationId}
      returning *`,
  );

/** Records that the identity provider knows the owner's organization. */
export const markTenantAssigned = (db: Db, organizationId: string) =>
  sql`update organizations set tenant_assigned = 1 where organization_id = ${organizationId}`.execute(db);

/**
 * Runs `change` in a transaction, one at a time in an organization. Otherwise two owners could leave at the same time, because
 * each counts the other as remaining.
 */
export const changeMembers = <Result>(db: Db, organizationId: string, change: (db: Db) => Promise<Result>) =>
  db.transaction().execute(async (transaction) => {
    await lockOrganization(transaction, organizationId);
    return change(transaction);
  });

/**
 * Keeps the named owner of the organization if that member is still an owner; otherwise names the longest-serving owner.
 * @param actor the person who made this necessary
 * @returns false if the organization has no owner
 */
export async function settleOwner(db: Db, organizationId: string, now: number, actor: AuditParty): Promise<boolean> {
  const owners = await allRows(
    db,
    sql<Pick<MemberRow, 'user_id'>>`
      select user_id from members
      where organization_id = ${organizationId} and status = 'active' and role = 'owner'
      order by joined_at, user_id`,
  );
  const { owner_user_id: named } = await findOrganization(db, organizationId);
  if (owners.length > 0 && !owners.some(({ user_id }) => user_id === named)) {
    const ownerId = String(owners[0]?.user_id);
    await nameOwner(db, organizationId, ownerId, now);
    const happened = { actor, action: 'organization.owner_changed', target: person(ownerId) } as const;
    await recordAction(db, organizationId, happened, now);
  }
  return owners.length > 0;
}

export const nameOwner = (db: Db, organizationId: string, userId: string, now: number) =>
  oneRow(
    db,
    sql<OrganizationRow>`
      update organizations set owner_user_id = ${userId}, updated_at = ${now} where organization_id = ${organizationId}
      returning *`,
  );

export const hasOrganizations = async (db: Db): Promise<boolean> =>
  (await firstRow(db, sql`select 1 from organizations limit 1`)) !== undefined;
