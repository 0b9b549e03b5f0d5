import { type RawBuilder, sql } from 'kysely';
import type { AgentId, Installation } from '../../contract/agent.ts';
import type { AuditParty } from '../../contract/audit.ts';
import { newId } from '../ids.ts';
import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { optional, toTimestamp } from './columns.ts';
import { preventRevocation } from './environments.ts';
import { assertConfigRoom, assertRoom, QUOTAS } from './quotas.ts';
import { allRows, firstRow, oneRow } from './rows.ts';
import type { Db, InstallationRow, MemberKey } from './schema.ts';

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

/** Omitted fields keep their value. */
const valuesOf = ({ version, config, status }: InstallationChange) => ({
  version: sql`coalesce(${version ?? null}, installations.version)`,
  config: sql`coalesce(${config === undefined ? null : JSON.stringify(config)}, installations.config)`,
  status: sql`coalesce(${status ?? null}, installations.status)`,
});

const changes = (change: InstallationChange, updatedAt: RawBuilder<unknown>) => {
  const { version, config, status } = valuesOf(change);
  return sql`version = ${version}, config = ${config}, status = ${status}, updated_at = ${updatedAt}`;
};

/** A person's change always counts as one. */
const changesByPerson = (change: InstallationChange, now: number) => changes(change, sql`${now}`);

/** Machines register their agents often, and usually nothing has changed. */
const changesByRegistration = (change: InstallationChange, now: number) => {
  const { version, config, status } = valuesOf(change);
  return changes(
    change,
    sql`case when ${version} is distinct from installations.version or ${config} is distinct from installations.config
      or ${status} is distinct from installations.status then ${now} else installations.updated_at end`,
  );
};

export interface NewInstallation extends InstallationChange {
  agentId: AgentId;
  environmentId: string | null;
}

/**
 * Updates an installed agent of the machine. A disabled agent stays disabled.
 * @returns undefined if the machine does not have the agent
 * @throws Problem `quota_reached`
 */
export const updateInstalled = (
  db: Db,
  organizationId: string,
  { agentId, environmentId, ...change }: NewInstallation,
  now: number,
): Promise<InstallationRow | undefined> =>
  withinConfigQuota(db, organizationId, change, (within) =>
    firstRow(
      within,
      sql<InstallationRow>`
        update installations set ${changesByRegistration(change, now)}
        where organization_id = ${organizationId} and environment_id = ${environmentId} and agent_id = ${agentId}
        returning *`,
    ),
  );

/** Opens a transaction only if `config` is given, because machines register their agents often, usually without `config`. */
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
 * Installs the agent, on a machine or without one.
 * @param actor the actor in the audit log
 * @throws Problem `quota_reached`, `environment_unusable`
 */
export const upsertInstallation = (
  db: Db,
  organizationId: string,
  installation: NewInstallation,
  actor: AuditParty,
  now: number,
) =>
  db.transaction().execute(async (transaction) => {
    const { agentId, environmentId } = installation;
    await assertRoom(transaction, 'installations', organizationId, now);
    if (environmentId !== null) await preventRevocation(transaction, organizationId, environmentId);
    const { version = null, config, status = 'active' } = installation;
    const newInstallationId = newId('ins', now);
    const row = await oneRow(
      transaction,
      sql<InstallationRow>`
        insert into installations (installation_id, organization_id, agent_id, environment_id, version, config, status,
          created_at, updated_at)
        values (${newInstallationId}, ${organizationId}, ${agentId}, ${environmentId}, ${version},
          ${config === undefined ? null : JSON.stringify(config)}, ${status}, ${now}, ${now})
        on conflict (environment_id, agent_id) do update set ${changesByRegistration(installation, now)}
        returning *`,
    );
    if (installation.config !== undefined) await assertConfigRoom(transaction, organizationId);
    if (row.installation_id === newInstallationId) {
      const target = { kind: 'agent', id: newInstallationId } as const;
      const details = { agent: agentId, ...(environmentId === null ? {} : { machine: environmentId }) };
      await recordAction(transaction, organizationId, { actor, action: 'agent.installed', target, details }, now);
    }
    return row;
  });

/**
 * Changes the given fields. An installation that is enabled again counts against the quota again.
 * @throws Problem `quota_reached`
 */
export const updateInstallation = (
  db: Db,
  { organizationId, userId }: MemberKey,
  installationId: string,
  change: InstallationChange,
  now: number,
): Promise<InstallationRow | undefined> =>
  db.transaction().execute(async (transaction) => {
    if (change.status === 'active') {
      const before = await findInstallation(transaction, organizationId, installationId);
      if (before?.status === 'disabled') await assertRoom(transaction, 'installations', organizationId, now);
    }
    const row = await firstRow(
      transaction,
      sql<InstallationRow>`
        update installations set ${changesByPerson(change, now)}
        where organization_id = ${organizationId} and installation_id = ${installationId}
        returning *`,
    );
    if (change.config !== undefined) await assertConfigRoom(transaction, organizationId);
    if (row) {
      const target = { kind: 'agent', id: installationId } as const;
      const happened = { actor: person(userId), action: 'agent.changed', target } as const;
      await recordAction(transaction, organizationId, { ...happened, details: { status: row.status } }, now);
    }
    return row;
  });

/** Ids of the installations on the most recently seen machines, and of those without a machine, up to the quota. */
export async function listInstallationIds(db: Db, organizationId: string): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<InstallationRow, 'installation_id'>>`
      select installations.installation_id from installations
      left join environments on environments.environment_id = installations.environment_id
      where installations.organization_id = ${organizationId}
      order by coalesce(environments.last_seen_at, installations.updated_at) desc, installations.installation_id desc
      limit ${QUOTAS.installations}`,
  );
  return rows.map(({ installation_id }) => installation_id);
}

export const findInstallation = (db: Db, organizationId: string, installationId: string) =>
  firstRow(
    db,
    sql<InstallationRow>`
      select * from installations where organization_id = ${organizationId} and installation_id = ${installationId}`,
  );
