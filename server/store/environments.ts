import type { Environment, RegisterEnvironmentBody } from '../../contract/environment.ts';
import { newId } from '../ids.ts';
import type { Db } from './open.ts';
import type { EnvironmentRow, SessionRow } from './schema.ts';
import { optional, toTimestamp } from './time.ts';

export const toEnvironment = (row: EnvironmentRow): Environment => ({
  environmentId: row.environment_id,
  organizationId: row.organization_id,
  ...optional('displayName', row.display_name),
  hostname: row.hostname,
  platform: row.platform,
  serviceCliVersion: row.cli_version,
  status: row.status,
  lastSeenAt: toTimestamp(row.last_seen_at),
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

/**
 * Registers the machine, or updates it where (hostname, platform) is known: omitted fields keep their value, and a
 * revoked one stays as it is.
 */
export async function registerEnvironment(db: Db, organizationId: string, body: RegisterEnvironmentBody, now: number) {
  const given = {
    ...(body.displayName === undefined ? {} : { display_name: body.displayName }),
    ...(body.repoRoot === undefined ? {} : { repo_root: body.repoRoot }),
    ...(body.repoRemote === undefined ? {} : { repo_remote: body.repoRemote }),
    ...(body.gitBranch === undefined ? {} : { git_branch: body.gitBranch }),
  };
  const environmentId = newId('env', now);
  const written = await db
    .insertInto('environments')
    .values({
      environment_id: environmentId,
      organization_id: organizationId,
      display_name: null,
      hostname: body.hostname,
      platform: body.platform,
      cli_version: body.serviceCliVersion,
      status: 'active',
      repo_root: null,
      repo_remote: null,
      git_branch: null,
      last_seen_at: now,
      created_at: now,
      updated_at: now,
      ...given,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'hostname', 'platform'])
        .doUpdateSet({ ...given, cli_version: body.serviceCliVersion, last_seen_at: now, updated_at: now })
        .where('environments.status', '=', 'active'),
    )
    .returningAll()
    .executeTakeFirst();
  if (written) return { row: written, created: written.environment_id === environmentId };
  const revoked = await db
    .selectFrom('environments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('hostname', '=', body.hostname)
    .where('platform', '=', body.platform)
    .executeTakeFirstOrThrow();
  return { row: revoked, created: false };
}

export const findEnvironment = (db: Db, organizationId: string, environmentId: string) =>
  db
    .selectFrom('environments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .executeTakeFirst();

export const listEnvironments = (db: Db, organizationId: string) =>
  db
    .selectFrom('environments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('environment_id', 'desc')
    .execute();

/** Moves `lastSeenAt` of an active machine; undefined when there is none to move. */
export const touchEnvironment = (
  db: Db,
  organizationId: string,
  environmentId: string,
  cliVersion: string | undefined,
  now: number,
) =>
  db
    .updateTable('environments')
    .set({ last_seen_at: now, updated_at: now, ...(cliVersion === undefined ? {} : { cli_version: cliVersion }) })
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'active')
    .returningAll()
    .executeTakeFirst();

/** Revokes the machine and closes its open sessions as failed, in one transaction; the sessions as they are after it. */
export function revokeEnvironment(
  db: Db,
  organizationId: string,
  environmentId: string,
  now: number,
): Promise<{ environment: EnvironmentRow | undefined; closed: SessionRow[] }> {
  return db.transaction().execute(async (transaction) => {
    const environment = await transaction
      .updateTable('environments')
      .set({ status: 'revoked', updated_at: now })
      .where('organization_id', '=', organizationId)
      .where('environment_id', '=', environmentId)
      .where('status', '=', 'active')
      .returningAll()
      .executeTakeFirst();
    if (!environment) {
      return { environment: await findEnvironment(transaction, organizationId, environmentId), closed: [] };
    }
    const closed = await transaction
      .updateTable('sessions')
      .set({ status: 'failed', ended_at: now, updated_at: now })
      .where('organization_id', '=', organizationId)
      .where('environment_id', '=', environmentId)
      .where('status', '=', 'active')
      .returningAll()
      .execute();
    return { environment, closed };
  });
}
