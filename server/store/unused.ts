import { sql } from 'kysely';
import { forUpdate } from './dialect.ts';
import type { Db } from './schema.ts';

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

async function purgeSecrets(db: Db, before: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('secrets')
    .where('secret_id', 'in', (query) =>
      query
        .selectFrom('secrets')
        .select('secret_id')
        .where('status', '=', 'revoked')
        .where('revoked_at', '<', before)
        .where((row) =>
          row.not(
            row.exists(
              row
                .selectFrom('sessions')
                .select('session_id')
                .whereRef('sessions.organization_id', '=', 'secrets.organization_id')
                .whereRef('sessions.secret_id', '=', 'secrets.secret_id'),
            ),
          ),
        )
        .limit(AT_ONCE),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

const purgeMachines = (db: Db, before: number): Promise<number> =>
  db.transaction().execute(async (transaction) => {
    const found = await unusedMachines(transaction, before).limit(AT_ONCE).execute();
    if (found.length === 0) return 0;
    const foundIds = found.map(({ environment_id }) => environment_id);
    for (const table of ['environments', 'installations']) {
      await sql`
        select environment_id from ${sql.table(table)}
        where environment_id in (${sql.join(foundIds)}) ${forUpdate(transaction)}`.execute(transaction);
    }
    // Before the lock, one may have reported again, opened a session, or had an agent disabled.
    const machines = await unusedMachines(transaction, before).where('environment_id', 'in', foundIds).execute();
    const ids = machines.map(({ environment_id }) => environment_id);
    if (ids.length === 0) return 0;
    await transaction.deleteFrom('installations').where('environment_id', 'in', ids).execute();
    // The secret is bound again when the machine registers again.
    await transaction.updateTable('secrets').set({ environment_id: null }).where('environment_id', 'in', ids).execute();
    await transaction.deleteFrom('environments').where('environment_id', 'in', ids).execute();
    return ids.length;
  });

const unusedMachines = (db: Db, before: number) =>
  db
    .selectFrom('environments')
    .select('environment_id')
    .where('status', '=', 'active')
    .where('last_seen_at', '<', before)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('sessions')
            .select('session_id')
            .whereRef('sessions.organization_id', '=', 'environments.organization_id')
            .whereRef('sessions.environment_id', '=', 'environments.environment_id'),
        ),
      ),
    )
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('installations')
            .select('installation_id')
            .whereRef('installations.environment_id', '=', 'environments.environment_id')
            .where('installations.status', '=', 'disabled'),
        ),
      ),
    );
