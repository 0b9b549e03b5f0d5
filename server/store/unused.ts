import { sql } from 'kysely';
import { forUpdate } from './dialect.ts';
import { allRows, changedRows, runAll, type Sql } from './rows.ts';
import type { Db, EnvironmentRow } from './schema.ts';

/** How long unused secrets and machines stay in lists. */
const KEPT_MS = 90 * 24 * 3_600_000;
const AT_ONCE = 500;

/**
 * Removes secrets that were revoked 90 days ago and machines that were not seen for 90 days, if no session refers to them.
 * A revoked machine stays, because it must not register again. A machine with a disabled agent stays too, because the
 * agent would be active after a new registration.
 */
export async function purgeUnused(db: Db, now: number, signal?: AbortSignal): Promise<void> {
  await repeat(() => purgeSecrets(db, now - KEPT_MS), signal);
  await repeat(() => purgeMachines(db, now - KEPT_MS), signal);
}

async function repeat(purge: () => Promise<number>, signal?: AbortSignal): Promise<void> {
  for (let gone = AT_ONCE; gone === AT_ONCE && !signal?.aborted; ) gone = await purge();
}

const purgeSecrets = (db: Db, before: number): Promise<number> =>
  changedRows(
    db,
    sql`
      delete from secrets where secret_id in (
        select secret_id from secrets
        where status = 'revoked' and revoked_at < ${before} and not exists (
          select 1 from sessions
          where sessions.organization_id = secrets.organization_id and sessions.secret_id = secrets.secret_id)
        limit ${AT_ONCE})`,
  );

const purgeMachines = (db: Db, before: number): Promise<number> =>
  db.transaction().execute(async (transaction) => {
    const found = await idsOf(transaction, sql`${unusedMachines(before)} limit ${AT_ONCE}`);
    if (found.length === 0) return 0;
    for (const table of ['environments', 'installations']) {
      await sql`
        select environment_id from ${sql.table(table)}
        where environment_id in (${sql.join(found)}) ${forUpdate(transaction)}`.execute(transaction);
    }
    // Checks again under the lock, because a machine may have reported, opened a session, or had an agent disabled.
    const ids = await idsOf(transaction, sql`${unusedMachines(before)} and environment_id in (${sql.join(found)})`);
    if (ids.length === 0) return 0;
    const these = sql`environment_id in (${sql.join(ids)})`;
    await runAll(transaction, [
      sql`delete from installations where ${these}`,
      // If the machine registers again, the secret is bound again.
      sql`update secrets set environment_id = null where ${these}`,
      sql`delete from environments where ${these}`,
    ]);
    return ids.length;
  });

async function idsOf(db: Db, machines: Sql): Promise<string[]> {
  const rows = await allRows(db, machines as Sql<Pick<EnvironmentRow, 'environment_id'>>);
  return rows.map(({ environment_id }) => environment_id);
}

const unusedMachines = (before: number): Sql => sql`
  select environment_id from environments
  where status = 'active' and last_seen_at < ${before}
    and not exists (
      select 1 from sessions
      where sessions.organization_id = environments.organization_id
        and sessions.environment_id = environments.environment_id)
    and not exists (
      select 1 from installations
      where installations.environment_id = environments.environment_id and installations.status = 'disabled')`;
