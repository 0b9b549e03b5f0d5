import type { Environment, RegisterEnvironmentBody } from '../../contract/environment.ts';
import { Problem } from '../../contract/problem.ts';
import { newId } from '../ids.ts';
import type { Db } from './open.ts';
import { assertRoom, QUOTAS } from './quotas.ts';
import type { EnvironmentRow } from './schema.ts';
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
 * @throws Problem `quota_reached`
 */
export async function registerEnvironment(db: Db, organizationId: string, body: RegisterEnvironmentBody, now: number) {
  const known = (await updateEnvironment(db, organizationId, body, now)) ?? (await findNamed(db, organizationId, body));
  if (known) return { row: known, created: false };
  const environmentId = newId('env', now);
  const row = await db.transaction().execute(async (transaction) => {
    await assertRoom(transaction, 'environments', organizationId, now);
    return insertEnvironment(transaction, environmentId, organizationId, body, now);
  });
  return { row, created: row.environment_id === environmentId };
}

const given = (body: RegisterEnvironmentBody, now: number) => ({
  ...(body.displayName === undefined ? {} : { display_name: body.displayName }),
  ...(body.repoRoot === undefined ? {} : { repo_root: body.repoRoot }),
  ...(body.repoRemote === undefined ? {} : { repo_remote: body.repoRemote }),
  ...(body.gitBranch === undefined ? {} : { git_branch: body.gitBranch }),
  cli_version: body.serviceCliVersion,
  last_seen_at: now,
  updated_at: now,
});

const updateEnvironment = (db: Db, organizationId: string, body: RegisterEnvironmentBody, now: number) =>
  db
    .updateTable('environments')
    .set(given(body, now))
    .where('organization_id', '=', organizationId)
    .where('hostname', '=', body.hostname)
    .where('platform', '=', body.platform)
    .where('status', '=', 'active')
    .returningAll()
    .executeTakeFirst();

/** The machine of that name, active or revoked. */
export const findNamed = (
  db: Db,
  organizationId: string,
  { hostname, platform }: Pick<RegisterEnvironmentBody, 'hostname' | 'platform'>,
) =>
  db
    .selectFrom('environments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('hostname', '=', hostname)
    .where('platform', '=', platform)
    .executeTakeFirst();

/** The row of another registration that came first, where there was one at the same moment. */
const insertEnvironment = (
  db: Db,
  environmentId: string,
  organizationId: string,
  body: RegisterEnvironmentBody,
  now: number,
) =>
  db
    .insertInto('environments')
    .values({
      environment_id: environmentId,
      organization_id: organizationId,
      display_name: null,
      hostname: body.hostname,
      platform: body.platform,
      status: 'active',
      repo_root: null,
      repo_remote: null,
      git_branch: null,
      waiting_events: null,
      troubles: null,
      reported_at: null,
      created_at: now,
      ...given(body, now),
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'hostname', 'platform']).doUpdateSet(given(body, now)),
    )
    .returningAll()
    .executeTakeFirstOrThrow();

export const findEnvironment = (db: Db, organizationId: string, environmentId: string) =>
  db
    .selectFrom('environments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .executeTakeFirst();

/** Ids of the machines that were seen last, revoked ones included; the latest first, as many as may be in use. */
export async function listEnvironmentIds(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('environments')
    .select('environment_id')
    .where('organization_id', '=', organizationId)
    .orderBy('last_seen_at', 'desc')
    .orderBy('environment_id', 'desc')
    .limit(QUOTAS.environments)
    .execute();
  return rows.map(({ environment_id }) => environment_id);
}

export const readEnvironments = (db: Db, organizationId: string, ids: readonly string[]) =>
  db
    .selectFrom('environments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('environment_id', 'in', ids)
    .execute();

/**
 * Keeps the machine from being revoked until the transaction ends.
 * @throws Problem `environment_unusable`
 */
export async function holdEnvironment(transaction: Db, organizationId: string, environmentId: string): Promise<void> {
  // Changes nothing but locks the row, on both engines.
  const held = await transaction
    .updateTable('environments')
    .set((row) => ({ status: row.ref('status') }))
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'active')
    .returning('environment_id')
    .executeTakeFirst();
  if (!held) throw environmentUnusable();
}

export const environmentUnusable = () =>
  new Problem('environment_unusable', '/environmentId names no active environment of this organization.');

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
