import type { Db } from './open.ts';
import { revokeSecrets } from './secrets.ts';

const AT_ONCE = 500;

/**
 * Locks everybody out of the organization: it has no members any more, its secrets and machines are revoked, and its name is
 * free. What it captured is removed afterwards.
 * @returns the ids of the secrets that were revoked
 */
export const endOrganization = (db: Db, organizationId: string, now: number): Promise<string[]> =>
  db.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('organizations')
      .set({ status: 'deleted', name: '', slug: organizationId, updated_at: now })
      .where('organization_id', '=', organizationId)
      .execute();
    await transaction.deleteFrom('members').where('organization_id', '=', organizationId).execute();
    await transaction
      .updateTable('environments')
      .set({ status: 'revoked' })
      .where('organization_id', '=', organizationId)
      .execute();
    return revokeSecrets(transaction, organizationId, now);
  });

export async function listDeletedOrganizations(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('organizations').select('organization_id').where('status', '=', 'deleted').execute();
  return rows.map(({ organization_id }) => organization_id);
}

/** Some sessions of the organization that are not marked as deleted yet. */
export async function listRemainingSessions(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .select('session_id')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .limit(AT_ONCE)
    .execute();
  return rows.map(({ session_id }) => session_id);
}

/**
 * Removes the organization itself, once its sessions are gone.
 * @returns false while some are left
 */
export async function removeOrganization(db: Db, organizationId: string): Promise<boolean> {
  const left = await db
    .selectFrom('sessions')
    .select('session_id')
    .where('organization_id', '=', organizationId)
    .limit(1)
    .executeTakeFirst();
  if (left) return false;
  for (let gone = AT_ONCE; gone === AT_ONCE; ) {
    const { numDeletedRows } = await db
      .deleteFrom('deleted_sessions')
      .where('organization_id', '=', organizationId)
      .where('session_id', 'in', (query) =>
        query
          .selectFrom('deleted_sessions')
          .select('session_id')
          .where('organization_id', '=', organizationId)
          .limit(AT_ONCE),
      )
      .executeTakeFirst();
    gone = Number(numDeletedRows);
  }
  // Without these nobody sums a day again. The sums go a day at a time: a year has hundreds of thousands.
  await db.deleteFrom('summed_days').where('organization_id', '=', organizationId).execute();
  for (let sum = await findSum(db, organizationId); sum; sum = await findSum(db, organizationId)) {
    await db
      .deleteFrom('usage_days')
      .where('organization_id', '=', organizationId)
      .where('plane', '=', sum.plane)
      .where('day', '=', sum.day)
      .execute();
  }
  await db.transaction().execute(async (transaction) => {
    for (const table of OWNED) {
      await transaction.deleteFrom(table).where('organization_id', '=', organizationId).execute();
    }
  });
  return true;
}

const findSum = (db: Db, organizationId: string) =>
  db
    .selectFrom('usage_days')
    .select(['plane', 'day'])
    .where('organization_id', '=', organizationId)
    .limit(1)
    .executeTakeFirst();

/** In an order in which no row refers to one that is gone. */
const OWNED = [
  'stored_bytes',
  'stored_days',
  'installations',
  'environments',
  'secrets',
  'device_sign_ins',
  'members',
  'organizations',
] as const;
