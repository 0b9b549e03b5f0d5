import type { AgentId, Installation } from '../../contract/agent.ts';
import { newId } from '../ids.ts';
import type { Db } from './open.ts';
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

/** Installs the agent on the machine, or updates what is given; a disabled one stays disabled. */
export const upsertInstallation = (
  db: Db,
  organizationId: string,
  installation: { agentId: AgentId; environmentId: string | null } & InstallationChange,
  now: number,
) =>
  db
    .insertInto('installations')
    .values({
      installation_id: newId('ins', now),
      organization_id: organizationId,
      agent_id: installation.agentId,
      environment_id: installation.environmentId,
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

export const listInstallations = (db: Db, organizationId: string) =>
  db
    .selectFrom('installations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('installation_id', 'desc')
    .execute();

export const findInstallation = (db: Db, organizationId: string, installationId: string) =>
  db
    .selectFrom('installations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('installation_id', '=', installationId)
    .executeTakeFirst();
