import { Problem } from '../../contract/problem.ts';
import type { OpenSessionBody } from '../../contract/session.ts';
import type { Deps } from '../deps.ts';
import type { SecretCaller } from '../http/caller.ts';
import { readOffset, writeOffset } from '../http/cursor.ts';
import type { Handlers } from '../http/handler.ts';
import { findEnvironment } from '../store/environments.ts';
import { findInstallation } from '../store/installations.ts';
import { closeSession, findSession, insertSession, listSessions, toSession } from '../store/sessions.ts';
import { fromTimestamp, toTimestamp } from '../store/time.ts';

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 100;

export const sessionHandlers = ({ store: { db }, live, now }: Deps) => {
  async function open(caller: SecretCaller, body: OpenSessionBody, startedAt: number) {
    const { organizationId, plane } = caller;
    const environment = await findEnvironment(db, organizationId, body.environmentId);
    if (environment?.status !== 'active') {
      throw new Problem('environment_unusable', '/environmentId names no active environment of this organization.');
    }
    const installation = await findInstallation(db, organizationId, body.agentInstallationId);
    const isUsable =
      installation?.status === 'active' &&
      (installation.environment_id === null || installation.environment_id === environment.environment_id);
    if (!installation || !isUsable) {
      throw new Problem(
        'installation_unusable',
        '/agentInstallationId names no active agent installation of this environment. An admin may have disabled it.',
      );
    }
    if (body.agentId !== undefined && body.agentId !== installation.agent_id) {
      throw new Problem('validation_failed', `/agentId differs from the installation's, ${installation.agent_id}.`);
    }
    const row = await insertSession(
      db,
      {
        organizationId,
        environmentId: environment.environment_id,
        installationId: installation.installation_id,
        agentId: installation.agent_id,
        plane,
        title: body.title,
        repoRoot: body.repoRoot,
        gitBranch: body.gitBranch,
        startedAt,
      },
      now(),
    );
    live.publish(organizationId, { sessionId: row.session_id, eventCount: 0, status: row.status });
    return { status: 201, body: { sessionId: row.session_id, session: toSession(row) } } as const;
  }

  return {
    openSession: ({ caller, body }) => open(caller, body, now()),

    openPastSession: ({ caller, body }) => open(caller, body, Math.min(now(), fromTimestamp(body.startedAt))),

    async completeSession({ caller, params, body }) {
      const { organizationId, plane } = caller;
      const row = await closeSession(
        db,
        {
          organizationId,
          plane,
          sessionId: params.sessionId,
          status: body.status ?? 'completed',
          endedAt: body.endedAt === undefined ? now() : fromTimestamp(body.endedAt),
        },
        now(),
      );
      if (!row) {
        const closed = await findSession(db, organizationId, params.sessionId);
        throw closed?.plane === plane ? alreadyClosed() : notFound();
      }
      const { session_id: sessionId, status, ended_at: endedAt, event_count: eventCount } = row;
      if (status === 'active' || endedAt === null) throw new Error('a closed session has neither end nor status');
      live.publish(organizationId, { sessionId, eventCount, status });
      return { status: 200, body: { sessionId, status, endedAt: toTimestamp(endedAt) } };
    },

    async listSessions({ caller, query }) {
      const limit = pageSize(query.limit);
      const offset = query.cursor === undefined ? 0 : readOffset(query.cursor);
      const rows = await listSessions(db, {
        organizationId: caller.organizationId,
        plane: query.secretEnvironment ?? 'live',
        environmentId: query.environmentId,
        agentId: query.agentId,
        offset,
        limit: limit + 1,
      });
      const sessions = rows.slice(0, limit).map(toSession);
      return { status: 200, body: { sessions, nextCursor: rows.length > limit ? writeOffset(offset + limit) : null } };
    },

    async getSession({ caller, params }) {
      const row = await findSession(db, caller.organizationId, params.sessionId);
      if (!row) throw notFound();
      return { status: 200, body: { session: toSession(row) } };
    },
  } satisfies Partial<Handlers>;
};

/** Anything that is not a positive integer counts as the default. */
function pageSize(limit: string | undefined): number {
  if (limit === undefined || !/^\+?\d+$/.test(limit) || Number(limit) === 0) return DEFAULT_PAGE;
  return Math.min(Number(limit), LARGEST_PAGE);
}

const notFound = () => new Problem('not_found', 'No such session in this organization.');

const alreadyClosed = () =>
  new Problem('session_already_closed', 'The session is closed already; nothing was changed.');
