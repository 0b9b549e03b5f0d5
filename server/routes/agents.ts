import type { AgentDefinition } from '../../contract/agent.ts';
import { CATALOG, CATALOG_CREATED_AT } from '../../contract/catalog.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { streamList } from '../ingest/list.ts';
import { environmentUnusable, findEnvironment } from '../store/environments.ts';
import {
  type InstallationChange,
  listInstallationIds,
  type NewInstallation,
  readInstallations,
  toInstallation,
  updateInstallation,
  updateInstalled,
  upsertInstallation,
} from '../store/installations.ts';

/** UTF-8 bytes of an installation's `config` as JSON. */
const MAX_CONFIG_BYTES = 64 * 1024;
const MAX_CONFIG_DEPTH = 128;

export const agentHandlers = (
  { store: { db }, now }: Pick<Deps, 'store' | 'now'>,
  catalog: readonly Omit<AgentDefinition, 'createdAt'>[] = CATALOG,
) => {
  /** What the machine has already is updated; only an active agent of the catalog is installed anew. */
  async function install(organizationId: string, installation: NewInstallation) {
    checkConfig(installation);
    const updated = await updateInstalled(db, organizationId, installation, now());
    if (updated) return updated;
    const isActive = catalog.some(({ agentId, status }) => agentId === installation.agentId && status === 'active');
    if (!isActive) throw deprecated(installation.agentId);
    return upsertInstallation(db, organizationId, installation, now());
  }

  return {
    async registerAgent({ caller, params, body }) {
      const environment = await findEnvironment(db, caller.organizationId, params.environmentId);
      if (!environment) throw new Problem('not_found', 'No such environment in this organization.');
      if (environment.status === 'revoked') throw environmentUnusable();
      const { agentId, version, config } = body;
      const { environment_id: environmentId } = environment;
      const row = await install(caller.organizationId, { agentId, environmentId, version, config });
      return { status: 201, body: { installationId: row.installation_id, installation: toInstallation(row) } };
    },

    async listAgents() {
      const agents = catalog.map((agent) => ({ ...agent, createdAt: CATALOG_CREATED_AT }));
      return { status: 200, body: { agents } };
    },

    async listInstallations({ caller }) {
      const { organizationId } = caller;
      const body = await streamList({
        name: 'installations',
        ids: await listInstallationIds(db, organizationId),
        idOf: (row) => row.installation_id,
        read: (ids) => readInstallations(db, organizationId, ids),
        show: toInstallation,
      });
      return { status: 200, body };
    },

    async createInstallation({ caller, body }) {
      const { agentId, version, config } = body;
      const environmentId = body.environmentId ?? null;
      if (environmentId !== null) {
        const environment = await findEnvironment(db, caller.organizationId, environmentId);
        if (environment?.status !== 'active') throw environmentUnusable();
      }
      const row = await install(caller.organizationId, { agentId, environmentId, version, config });
      return { status: 201, body: { installation: toInstallation(row) } };
    },

    async updateInstallation({ caller, params, body }) {
      checkConfig(body);
      const row = await updateInstallation(db, caller.organizationId, params.installationId, body, now());
      if (!row) throw new Problem('not_found', 'No such agent installation in this organization.');
      return { status: 200, body: { installation: toInstallation(row) } };
    },
  } satisfies Partial<Handlers>;
};

function checkConfig({ config }: InstallationChange): void {
  if (config === undefined) return;
  // Looked at first: writing very deep JSON would exhaust the stack.
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
    `/agentId names ${agentId}, which is deprecated: it stays where it is, but cannot be installed anew.`,
  );
