import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { streamList } from '../ingest/list.ts';
import {
  findEnvironment,
  listEnvironmentIds,
  readEnvironments,
  registerEnvironment,
  toEnvironment,
  touchEnvironment,
} from '../store/environments.ts';
import { bindSecret } from '../store/ownership.ts';
import { toTimestamp } from '../store/time.ts';

export const environmentHandlers = ({ store: { db }, revocation, now }: Deps) =>
  ({
    async registerEnvironment({ caller, body }) {
      const { row, created } = await registerEnvironment(db, caller.organizationId, body, now());
      if (created) await bindSecret(db, caller, row.environment_id);
      const answer = { environmentId: row.environment_id, environment: toEnvironment(row) };
      return created ? { status: 201, body: answer } : { status: 200, body: answer };
    },

    async heartbeat({ caller, params, body }) {
      const { environmentId } = params;
      const row = await touchEnvironment(db, caller.organizationId, environmentId, body.serviceCliVersion, now());
      if (row) return { status: 200, body: { environmentId, lastSeenAt: toTimestamp(row.last_seen_at) } };
      const revoked = await findEnvironment(db, caller.organizationId, environmentId);
      throw revoked ? revokedProblem() : notFound();
    },

    async listEnvironments({ caller }) {
      const { organizationId } = caller;
      const body = await streamList({
        name: 'environments',
        ids: await listEnvironmentIds(db, organizationId),
        idOf: (row) => row.environment_id,
        read: (ids) => readEnvironments(db, organizationId, ids),
        show: toEnvironment,
      });
      return { status: 200, body };
    },

    async getEnvironment({ caller, params }) {
      const row = await findEnvironment(db, caller.organizationId, params.environmentId);
      if (!row) throw notFound();
      return { status: 200, body: { environment: toEnvironment(row) } };
    },

    async revokeEnvironment({ caller, params }) {
      const row = await revocation.revoke(caller.organizationId, params.environmentId);
      if (!row) throw notFound();
      return { status: 200, body: { environment: toEnvironment(row) } };
    },
  }) satisfies Partial<Handlers>;

const notFound = () => new Problem('not_found', 'No such environment in this organization.');

const revokedProblem = () =>
  new Problem('environment_revoked', 'This environment was revoked in the dashboard and does not come back.');
