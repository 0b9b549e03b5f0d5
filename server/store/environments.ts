import { sql } from 'kysely';
import type { Environment, RegisterEnvironmentBody } from '../../contract/environment.ts';
import { Problem } from '../../contract/problem.ts';
import { newId } from '../ids.ts';
import { recordAction } from './audit.ts';
import { secret } from './audit-chain.ts';
import { optional, toTimestamp } from './columns.ts';
import { forUpdate } from './dialect.ts';
import { adoptMachine } from './machine-person.ts';
import { assertRoom, QUOTAS } from './quotas.ts';
import { allRows, changedRows, firstRow, oneRow } from './rows.ts';
import type { Db, EnvironmentRow, SecretKey } from './schema.ts';

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
  ...optional('userId', row.user_id),
  ...optional('claimedBy', row.claimed_by),
});

/**
 * Registers the machine, or updates the machine with the same host name and platform. It does not change a revoked machine.
 * @throws Problem `quota_reached`
 */
export async function registerEnvironment(
  db: Db,
  { organizationId, secretId }: SecretKey,
  body: RegisterEnvironmentBody,
  now: number,
) {
  const known = (await updateEnvironment(db, organizationId, body, now)) ?? (await findNamed(db, organizationId, body));
  if (known) return { row: await adoptMachine(db, { organizationId, secretId }, known, now), created: false };
  const environmentId = newId('env', now);
  const row = await db.transaction().execute(async (transaction) => {
    await assertRoom(transaction, 'environments', organizationId, now);
    const inserted = await insertEnvironment(transaction, environmentId, { organizationId, secretId }, body, now);
    if (inserted.environment_id === environmentId) {
      const target = { kind: 'machine', id: environmentId } as const;
      const happened = { actor: secret(secretId), action: 'machine.registered', target } as const;
      await recordAction(transaction, organizationId, happened, now);
    }
    return inserted;
  });
  return { row, created: row.environment_id === environmentId };
}

const updateEnvironment = (db: Db, organizationId: string, body: RegisterEnvironmentBody, now: number) =>
  firstRow(
    db,
    sql<EnvironmentRow>`
      update environments set ${given(body, now)}
      where organization_id = ${organizationId} and hostname = ${body.hostname} and platform = ${body.platform}
        and status = 'active'
      returning *`,
  );

/** Omitted fields keep their value. */
const given = (body: RegisterEnvironmentBody, now: number) => sql`
  display_name = coalesce(${body.displayName ?? null}, environments.display_name),
  repo_root = coalesce(${body.repoRoot ?? null}, environments.repo_root),
  repo_remote = coalesce(${body.repoRemote ?? null}, environments.repo_remote),
  git_branch = coalesce(${body.gitBranch ?? null}, environments.git_branch),
  cli_version = ${body.serviceCliVersion}, last_seen_at = ${now}, updated_at = ${now}`;

/** The machine with that name, active or revoked. */
export const findNamed = (
  db: Db,
  organizationId: string,
  { hostname, platform }: Pick<RegisterEnvironmentBody, 'hostname' | 'platform'>,
) =>
  firstRow(
    db,
    sql<EnvironmentRow>`
      select * from environments
      where organization_id = ${organizationId} and hostname = ${hostname} and platform = ${platform}`,
  );

/**
 * Inserts the machine. If a person signed it in, that person becomes its owner.
 * @returns the new row, or the row of a concurrent registration that came first
 */
const insertEnvironment = (
  db: Db,
  environmentId: string,
  { organizationId, secretId }: SecretKey,
  body: RegisterEnvironmentBody,
  now: number,
) =>
  oneRow(
    db,
    sql<EnvironmentRow>`
      insert into environments (environment_id, organization_id, display_name, hostname, platform, cli_version, status,
        repo_root, repo_remote, git_branch, user_id, last_seen_at, created_at, updated_at)
      values (${environmentId}, ${organizationId}, ${body.displayName ?? null}, ${body.hostname}, ${body.platform},
        ${body.serviceCliVersion}, 'active', ${body.repoRoot ?? null}, ${body.repoRemote ?? null},
        ${body.gitBranch ?? null},
        (select user_id from secrets where organization_id = ${organizationId} and secret_id = ${secretId}),
        ${now}, ${now}, ${now})
      on conflict (organization_id, hostname, platform) do update set ${given(body, now)}
      returning *`,
  );

export const findEnvironment = (db: Db, organizationId: string, environmentId: string) =>
  firstRow(
    db,
    sql<EnvironmentRow>`
      select * from environments where organization_id = ${organizationId} and environment_id = ${environmentId}`,
  );

/** Reads the machine, and locks it against changes until the transaction ends. */
export const lockEnvironment = (transaction: Db, organizationId: string, environmentId: string) =>
  firstRow(
    transaction,
    sql<EnvironmentRow>`
      select * from environments where organization_id = ${organizationId} and environment_id = ${environmentId}
      ${forUpdate(transaction)}`,
  );

/** Ids of the most recently seen machines, active or revoked, up to the quota, latest first. */
export async function listEnvironmentIds(db: Db, organizationId: string): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<EnvironmentRow, 'environment_id'>>`
      select environment_id from environments where organization_id = ${organizationId}
      order by last_seen_at desc, environment_id desc limit ${QUOTAS.environments}`,
  );
  return rows.map(({ environment_id }) => environment_id);
}

/**
 * Prevents the revocation of the machine until the transaction ends. An update locks the row on both engines.
 * @throws Problem `environment_unusable`
 */
export async function preventRevocation(transaction: Db, organizationId: string, environmentId: string): Promise<void> {
  const locked = await changedRows(
    transaction,
    sql`
      update environments set status = status
      where organization_id = ${organizationId} and environment_id = ${environmentId} and status = 'active'`,
  );
  if (locked === 0) throw environmentUnusable();
}

export const environmentUnusable = () =>
  new Problem('environment_unusable', '/environmentId names no active environment of this organization.');

/** Updates `lastSeenAt` of an active machine. @returns undefined if the organization has no such machine */
export const touchEnvironment = (
  db: Db,
  organizationId: string,
  environmentId: string,
  cliVersion: string | undefined,
  now: number,
) =>
  firstRow(
    db,
    sql<EnvironmentRow>`
      update environments
      set last_seen_at = ${now}, updated_at = ${now}, cli_version = coalesce(${cliVersion ?? null}, cli_version)
      where organization_id = ${organizationId} and environment_id = ${environmentId} and status = 'active'
      returning *`,
  );
