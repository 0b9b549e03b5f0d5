import { CATALOG, CATALOG_CREATED_AT } from '../../contract/agent.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { findEnvironment } from '../store/environments.ts';
import {
  type InstallationChange,
  listInstallations,
  toInstallation,
  updateInstallation,
  upsertInstallation,
} from '../store/installations.ts';

/** UTF-8 bytes of an installation's `config` as JSON. */
const MAX_CONFIG_BYTES = 64 * 1024;
const MAX_CONFIG_DEPTH = 128;

export const agentHandlers = ({ store: { db }, now }: Deps) =>
  ({
    async registerAgent({ caller, params, body }) {
      checkConfig(body);
      const environment = await findEnvironment(db, caller.organizationId, params.environmentId);
      if (!environment) throw new Problem('not_found', 'No such environment in this organization.');
      if (environment.status === 'revoked') throw environmentUnusable();
      const row = await upsertInstallation(
        db,
        caller.organizationId,
        {
          agentId: body.agentId,
          environmentId: environment.environment_id,
          version: body.version,
          config: body.config,
        },
        now(),
      );
      return { status: 201, body: { installationId: row.installation_id, installation: toInstallation(row) } };
    },

    async listAgents() {
      const agents = CATALOG.map((agent) => ({ ...agent, createdAt: CATALOG_CREATED_AT }));
      return { status: 200, body: { agents } };
    },

    async listInstallations({ caller }) {
      const rows = await listInstallations(db, caller.organizationId);
      return { status: 200, body: { installations: rows.map(toInstallation) } };
    },

    async createInstallation({ caller, body }) {
      checkConfig(body);
      const { agentId, version, config } = body;
      const environmentId = body.environmentId ?? null;
      if (environmentId !== null) {
        const environment = await findEnvironment(db, caller.organizationId, environmentId);
        if (environment?.status !== 'active') throw environmentUnusable();
      }
      const row = await upsertInstallation(
        db,
        caller.organizationId,
        { agentId, environmentId, version, config },
        now(),
      );
      return { status: 201, body: { installation: toInstallation(row) } };
    },

    async updateInstallation({ caller, params, body }) {
      checkConfig(body);
      const row = await updateInstallation(db, caller.organizationId, params.installationId, body, now());
      if (!row) throw new Problem('not_found', 'No such agent installation in this organization.');
      return { status: 200, body: { installation: toInstallation(row) } };
    },
  }) satisfies Partial<Handlers>;

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

const environmentUnusable = () =>
  new Problem('environment_unusable', '/environmentId names no active environment of this organization.');
