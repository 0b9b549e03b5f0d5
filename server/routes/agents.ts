import type { AgentDefinition } from '../../contract/agent.ts';
import type { AuditParty } from '../../contract/audit.ts';
import { CATALOG, CATALOG_CREATED_AT } from '../../contract/catalog.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { person, secret } from '../store/audit-chain.ts';
import { environmentUnusable, findEnvironment } from '../store/environments.ts';
import {
  type InstallationChange,
  listInstallationIds,
  type NewInstallation,
  toInstallation,
  updateInstallation,
  updateInstalled,
  upsertInstallation,
} from '../store/installations.ts';
import { found, streamList } from './answers.ts';

/** UTF-8 bytes of an installation's `config` as JSON. */
const MAX_CONFIG_BYTES = 64 * 1024;
const MAX_CONFIG_DEPTH = 128;

export const agentHandlers = (
  { store: { db }, now }: Pick<Deps, 'store' | 'now'>,
  catalog: readonly Omit<AgentDefinition, 'createdAt'>[] = CATALOG,
) => {
  /** Updates an agent that the machine already has. Otherwise it installs the agent if the catalog says that it is active. */
  async function install(organizationId: string, installation: NewInstallation, actor: AuditParty) {
    checkConfig(installation);
    const updated = await updateInstalled(db, organizationId, installation, now());
    if (updated) return updated;
    const isActive = catalog.some(({ agentId, status }) => agentId === installation.agentId && status === 'active');
    if (!isActive) throw deprecated(installation.agentId);
    return upsertInstallation(db, organizationId, installation, actor, now());
  }

  return {
    async registerAgent({ caller, params, body }) {
      const row = await findEnvironment(db, caller.organizationId, params.environmentId);
      const environment = found(row, 'environment');
      if (environment.status === 'revoked') throw environmentUnusable();
      const { agentId, version, config } = body;
      const { environment_id: environmentId } = environment;
      const wanted = { agentId, environmentId, version, config };
      const installed = await install(caller.organizationId, wanted, secret(caller.secretId));
      const installation = toInstallation(installed);
      return { status: 201, body: { installationId: installation.installationId, installation } };
    },

    async listAgents() {
      const agents = catalog.map((agent) => ({ ...agent, createdAt: CATALOG_CREATED_AT }));
      return { status: 200, body: { agents } };
    },

    async listInstallations({ caller }) {
      const { organizationId } = caller;
      const ids = await listInstallationIds(db, organizationId);
      const list = {
        organizationId,
        name: 'installations',
        table: 'installations',
        ids,
        show: toInstallation,
      } as const;
      return { status: 200, body: await streamList(db, list) };
    },

    async createInstallation({ caller, body }) {
      const { agentId, version, config } = body;
      const environmentId = body.environmentId ?? null;
      if (environmentId !== null) {
        const environment = await findEnvironment(db, caller.organizationId, environmentId);
        if (environment?.status !== 'active') throw environmentUnusable();
      }
      const wanted = { agentId, environmentId, version, config };
      const row = await install(caller.organizationId, wanted, person(caller.userId));
      return { status: 201, body: { installation: toInstallation(row) } };
    },

    async updateInstallation({ caller, params, body }) {
      checkConfig(body);
      const row = await updateInstallation(db, caller, params.installationId, body, now());
      return { status: 200, body: { installation: toInstallation(found(row, 'agent installation')) } };
    },
  } satisfies Partial<Handlers>;
};

function checkConfig({ config }: InstallationChange): void {
  if (config === undefined) return;
  // This check comes first, because serializing very deep JSON would exhaust the stack.
  if (isDeeperThan(config, MAX_CONFIG_DEPTH)) {
    throw new Problem('validation_failed', `/config is nested deeper than ${MAX_CONFIG_DEPTH} levels.`);
  }
  if (Buffer.byteLength(JSON.stringify(config)) <= MAX_CONFIG_BYTES) return;
  throw new Problem('validation_failed', `/config has more than ${MAX_CONFIG_BYTES} bytes of JSON.`);
}

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)));

const deprecated = (agentId: string) =>
  new Problem(
    'validation_failed',
    `/agentId names ${agentId}, which is deprecated: existing installations stay, but there are no new ones.`,
  );
