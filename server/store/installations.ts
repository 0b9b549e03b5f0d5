import type { AgentId, Installation } from '../../contract/agent.ts';
import { newId } from '../ids.ts';
import { holdEnvironment } from './environments.ts';
import type { Db } from './open.ts';
import { assertConfigRoom, assertRoom, QUOTAS } from './quotas.ts';
import type { InstallationRow } from './schema.ts';
import { optional, toTimestamp } from './time.ts';

export const toInstallation = (row: InstallationRow): Installation => ({
  installationId: row.installation_id,
  organizationId: row.organization_id,
  agentId: row.agent_id,
  ...optional('environmentId', row.environment_id),
  ...optional('version', row.version),
  ...optional('config', row.config === null ? null : (JSON.parse(row.config) as Record<string, unknown>)),
  status: row.status,
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

export interface InstallationChange {
  version?: string | undefined;
  config?: Record<string, unknown> | undefined;
  status?: 'active' | 'disabled' | undefined;
}

const changes = ({ version, config, status }: InstallationChange) => ({
  ...(version === undefined ? {} : { version }),
  ...(config === undefined ? {} : { config: JSON.stringify(config) }),
  ...(status === undefined ? {} : { status }),
});

export interface NewInstallation extends InstallationChange {
  agentId: AgentId;
  environmentId: string | null;
}

/**
 * Updates what is given where the machine has the agent; a disabled one stays disabled. Undefined where it has not.
 * @throws Problem `quota_reached`
 */
export const updateInstalled = (
  db: Db,
  organizationId: string,
  { agentId, environmentId, ...change }: NewInstallation,
  now: number,
): Promise<InstallationRow | undefined> =>
  withinConfigQuota(db, organizationId, change, (within) =>
    within
      .updateTable('installations')
      .set({ ...changes(change), updated_at: now })
      .where('organization_id', '=', organizationId)
      .where('environment_id', '=', environmentId)
      .where('agent_id', '=', agentId)
      .returningAll()
      .executeTakeFirst(),
  );

/** In a transaction of its own only where `config` is given: machines register their agents without one, and often. */
const withinConfigQuota = <Result>(
  db: Db,
  organizationId: string,
  { config }: InstallationChange,
  change: (db: Db) => Promise<Result>,
): Promise<Result> => {
  if (config === undefined) return change(db);
  return db.transaction().execute(async (transaction) => {
    const result = await change(transaction);
    await assertConfigRoom(transaction, organizationId);
    return result;
  });
};

/**
 * Installs the agent on the machine, or on none.
 * @throws Problem `quota_reached`, `environment_unusable`
 */
export const upsertInstallation = (db: Db, organizationId: string, installation: NewInstallation, now: number) =>
  db.transaction().execute(async (transaction) => {
    const { agentId, environmentId } = installation;
    await assertRoom(transaction, 'installations', organizationId, now);
    if (environmentId !== null) await holdEnvironment(transaction, organizationId, environmentId);
    const row = await transaction
      .insertInto('installations')
      .values({
        installation_id: newId('ins', now),
        organization_id: organizationId,
        agent_id: agentId,
        environment_id: environmentId,
        version: null,
        config: null,
        status: 'active',
        created_at: now,
        updated_at: now,
        ...changes(installation),
      })
      .onConflict((conflict) =>
        conflict.columns(['environment_id', 'agent_id']).doUpdateSet({ ...changes(installation), updated_at: now }),
      )
      .returningAll()
      .executeTakeFirstOrThrow();
    if (installation.config !== undefined) await assertConfigRoom(transaction, organizationId);
    return row;
  });

/**
 * Changes what is given. One that is enabled again counts again.
 * @throws Problem `quota_reached`
 */
export const updateInstallation = (
  db: Db,
  organizationId: string,
  installationId: string,
  change: InstallationChange,
  now: number,
): Promise<InstallationRow | undefined> =>
  db.transaction().execute(async (transaction) => {
    if (change.status === 'active') {
      const before = await findInstallation(transaction, organizationId, installationId);
      if (before?.status === 'disabled') await assertRoom(transaction, 'installations', organizationId, now);
    }
    const row = await transaction
      .updateTable('installations')
      .set({ ...changes(change), updated_at: now })
      .where('organization_id', '=', organizationId)
      .where('installation_id', '=', installationId)
      .returningAll()
      .executeTakeFirst();
    if (change.config !== undefined) await assertConfigRoom(transaction, organizationId);
    return row;
  });

/**
 * Ids of the installations on the machines that were seen last, and of those on none, disabled ones included; as many as
 * may be in use.
 */
export async function listInstallationIds(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('installations')
    .leftJoin('environments', 'environments.environment_id', 'installations.environment_id')
    .select('installations.installation_id')
    .where('installations.organization_id', '=', organizationId)
    .orderBy((row) => row.fn.coalesce('environments.last_seen_at', 'installations.updated_at'), 'desc')
    .orderBy('installations.installation_id', 'desc')
    .limit(QUOTAS.installations)
    .execute();
  return rows.map(({ installation_id }) => installation_id);
}

export const readInstallations = (db: Db, organizationId: string, ids: readonly string[]) =>
  db
    .selectFrom('installations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('installation_id', 'in', ids)
    .execute();

export const findInstallation = (db: Db, organizationId: string, installationId: string) =>
  db
    .selectFrom('installations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('installation_id', '=', installationId)
    .executeTakeFirst();
