import type { AgentId, Installation } from '../../contract/agent.ts';
import { newId } from '../ids.ts';
import { holdEnvironment } from './environments.ts';
import type { Db } from './open.ts';
import { assertRoom, QUOTAS } from './quotas.ts';
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

/** Updates what is given where the machine has the agent; a disabled one stays disabled. Undefined where it has not. */
export const updateInstalled = (
  db: Db,
  organizationId: string,
  { agentId, environmentId, ...change }: NewInstallation,
  now: number,
) =>
  db
    .updateTable('installations')
    .set({ ...changes(change), updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .where('agent_id', '=', agentId)
    .returningAll()
    .executeTakeFirst();

/**
 * Installs the agent on the machine, or on none.
 * @throws Problem `quota_reached`, `environment_unusable`
 */
export const upsertInstallation = (db: Db, organizationId: string, installation: NewInstallation, now: number) =>
  db.transaction().execute(async (transaction) => {
    const { agentId, environmentId } = installation;
    await assertRoom(transaction, 'installations', organizationId);
    if (environmentId !== null) await holdEnvironment(transaction, organizationId, environmentId);
    return transaction
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
  });

export const updateInstallation = (
  db: Db,
  organizationId: string,
  installationId: string,
  change: InstallationChange,
  now: number,
) =>
  db
    .updateTable('installations')
    .set({ ...changes(change), updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('installation_id', '=', installationId)
    .returningAll()
    .executeTakeFirst();

/** Newest first, disabled ones included. */
export const listInstallations = (db: Db, organizationId: string) =>
  db
    .selectFrom('installations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('installation_id', 'desc')
    .limit(QUOTAS.installations)
    .execute();

export const findInstallation = (db: Db, organizationId: string, installationId: string) =>
  db
    .selectFrom('installations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('installation_id', '=', installationId)
    .executeTakeFirst();
