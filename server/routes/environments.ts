import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { toTimestamp } from '../store/columns.ts';
import {
  findEnvironment,
  listEnvironmentIds,
  registerEnvironment,
  toEnvironment,
  touchEnvironment,
} from '../store/environments.ts';
import { bindSecret } from '../store/ownership.ts';
import { found, streamList } from './answers.ts';

export const environmentHandlers = ({ store: { db }, revocation, now }: Deps) =>
  ({
    async registerEnvironment({ caller, body }) {
      const { row, created } = await registerEnvironment(db, caller, body, now());
      if (created) await bindSecret(db, caller, row.environment_id);
      const answer = { environmentId: row.environment_id, environment: toEnvironment(row) };
      return created ? { status: 201, body: answer } : { status: 200, body: answer };
    },

    async heartbeat({ caller, params, body }) {
      const { environmentId } = params;
      const row = await touchEnvironment(db, caller.organizationId, environmentId, body.serviceCliVersion, now());
      if (row) return { status: 200, body: { environmentId, lastSeenAt: toTimestamp(row.last_seen_at) } };
      found(await findEnvironment(db, caller.organizationId, environmentId), 'environment');
      throw new Problem('environment_revoked', 'This environment was revoked in the dashboard, which is final.');
    },

    async listEnvironments({ caller }) {
      const { organizationId } = caller;
      const ids = await listEnvironmentIds(db, organizationId);
      const list = { organizationId, name: 'environments', table: 'environments', ids, show: toEnvironment } as const;
      return { status: 200, body: await streamList(db, list) };
    },

    async getEnvironment({ caller, params }) {
      const row = await findEnvironment(db, caller.organizationId, params.environmentId);
      return { status: 200, body: { environment: toEnvironment(found(row, 'environment')) } };
    },

    async revokeEnvironment({ caller, params }) {
      const row = await revocation.revoke(caller, params.environmentId);
      return { status: 200, body: { environment: toEnvironment(found(row, 'environment')) } };
    },
  }) satisfies Partial<Handlers>;
