import { sql } from 'kysely';
import { allRows, changedRows, firstRow, runAll } from '../store/rows.ts';
import type { Db, OrganizationRow, SessionRow } from '../store/schema.ts';
import { revokeSecrets } from '../store/secrets.ts';
import { keyOf, type MovedTable, REMOVED } from '../store/tables.ts';
import { assertNoHold } from './holds.ts';

const AT_ONCE = 500;

/**
 * Removes the members of the organization, revokes its secrets and machines, and frees its name. Its sessions are removed
 * afterwards.
 * @returns the ids of the revoked secrets
 * @throws Problem `held`
 */
export const endOrganization = (db: Db, organizationId: string, now: number): Promise<string[]> =>
  db.transaction().execute(async (transaction) => {
    const mine = sql`organization_id = ${organizationId}`;
    await sql`update organizations set status = 'deleted', name = '', updated_at = ${now} where ${mine}`.execute(
      transaction,
    );
    await assertNoHold(transaction, organizationId);
    await runAll(transaction, [
      sql`delete from members where ${mine}`,
      sql`delete from directory_tokens where ${mine}`,
      sql`update environments set status = 'revoked' where ${mine}`,
    ]);
    const secretIds = await revokeSecrets(transaction, organizationId, now);
    // The slug comes last, because it is a key: while the key of a row changes, its audit log takes no entries.
    await sql`update organizations set slug = organization_id where ${mine}`.execute(transaction);
    return secretIds;
  });

export async function listDeletedOrganizations(db: Db): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<OrganizationRow, 'organization_id'>>`select organization_id from organizations where status = 'deleted'`,
  );
  return rows.map(({ organization_id }) => organization_id);
}

/** Lists some sessions of the organization that are not marked as deleted yet, in the order of their ids, after one. */
export async function listRemainingSessions(
  db: Db,
  organizationId: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<SessionRow, 'session_id'>>`
      select session_id from sessions
      where organization_id = ${organizationId} and deleted_at is null and session_id > ${after}
      order by session_id limit ${limit}`,
  );
  return rows.map(({ session_id }) => session_id);
}

/**
 * Removes the organization itself, once its sessions are removed.
 * @param beforeLast called before the last row is removed; if it fails, a later call repeats everything
 * @returns false while sessions are left, or events of them outside the store
 */
export async function removeOrganization(
  db: Db,
  organizationId: string,
  beforeLast?: () => Promise<void>,
): Promise<boolean> {
  const left = await firstRow(
    db,
    sql`
      select 1 from sessions where organization_id = ${organizationId}
      union all
      select 1 from removals where organization_id = ${organizationId} and finished_at is null
      limit 1`,
  );
  if (left) return false;
  // Without these rows no process sums a day again.
  await sql`delete from summed_days where organization_id = ${organizationId}`.execute(db);
  await removeRows(db, organizationId, 'usage_days');
  for (const table of REMOVED) await removeRows(db, organizationId, table);
  await beforeLast?.();
  await removeRows(db, organizationId, 'organizations');
  return true;
}

/** Removes rows in slices, so that others do not wait for long. The organization comes last, so that a removal can be repeated. */
async function removeRows(db: Db, organizationId: string, table: MovedTable | 'usage_days'): Promise<void> {
  const key = sql.join(keyOf(table).map((column) => sql.ref(column)));
  const some = sql`select ${key} from ${sql.table(table)} where organization_id = ${organizationId} limit ${AT_ONCE}`;
  for (let gone = AT_ONCE; gone === AT_ONCE; ) {
    gone = await changedRows(
      db,
      sql`
        delete from ${sql.table(table)}
        where organization_id = ${organizationId} and (${key}) in (${some})`,
    );
  }
}
