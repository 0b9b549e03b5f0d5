import { Problem } from '../../contract/problem.ts';
import type { OpenSessionBody } from '../../contract/session.ts';
import { readOffset, writeOffset } from '../cursor.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import type { SecretCaller } from '../http/secret-lookup.ts';
import { noSuchSession } from '../log/outcome.ts';
import { person } from '../store/audit-chain.ts';
import { fromTimestamp, toTimestamp } from '../store/columns.ts';
import { forgetDeletion } from '../store/ownership.ts';
import { findRemoval, toReceipt } from '../store/removals.ts';
import type { SessionRow } from '../store/schema.ts';
import { findSession, listSessions, toSession } from '../store/sessions.ts';
import { mayName, viewerOf, wholeOrganization } from '../store/viewer.ts';
import { changeVisibility, decides, restrictVisibility } from '../store/visibility.ts';
import { found } from './answers.ts';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 100;

export const sessionHandlers = ({ store: { db }, sessionLog, writePermission, derived, changes, now }: Deps) => {
  interface Past {
    startedAt: number;
    repoRemote?: string | undefined;
  }

  async function open(caller: SecretCaller, body: OpenSessionBody, past: Past) {
    const { organizationId, plane, secretId } = caller;
    const {
      agentInstallationId: installationId,
      environmentId,
      agentId,
      title,
      repoRoot,
      gitBranch,
      visibility,
    } = body;
    const session = { environmentId, installationId, agentId, title, repoRoot, gitBranch, visibility, ...past };
    const row = await sessionLog.open({ organizationId, plane, secretId, ...session });
    writePermission.note(row);
    return { status: 201, body: { sessionId: row.session_id, session: toSession(row) } } as const;
  }

  /** Makes everyone who watched the session in its former state reload it. */
  function publishAudienceChange(was: SessionRow): Promise<void> {
    derived.indexer.note({ organizationId: was.organization_id, sessionId: was.session_id });
    return changes.publishAudience(was);
  }

  return {
    openSession: ({ caller, body }) => open(caller, body, { startedAt: now() }),

    openPastSession({ caller, body }) {
      const { repoRemote } = body;
      return open(caller, body, { startedAt: Math.min(now(), fromTimestamp(body.startedAt)), repoRemote });
    },

    async completeSession({ caller, params, body }) {
      const { organizationId, plane } = caller;
      const status = body.status ?? 'completed';
      const given = body.endedAt === undefined ? undefined : fromTimestamp(body.endedAt);
      const { sessionId } = params;
      await writePermission.check(caller, sessionId);
      const { endedAt } = await sessionLog.close({ organizationId, plane, sessionId, status, endedAt: given });
      return { status: 200, body: { sessionId, status, endedAt: toTimestamp(endedAt) } };
    },

    async deleteSession({ caller, params }) {
      const { sessionId } = params;
      const { organizationId, userId } = caller;
      const session = await findSession(db, wholeOrganization(organizationId), sessionId);
      if (session && !mayName(await viewerOf(db, caller), session)) throw noSuchSession();
      await sessionLog.delete({ organizationId, sessionId }, person(userId));
      return { status: 200, body: { sessionId } };
    },

    async getDeletionReceipt({ caller, params }) {
      const removal = await findRemoval(db, { organizationId: caller.organizationId, sessionId: params.sessionId });
      if (!removal) throw noDeletion();
      return { status: 200, body: toReceipt(removal) };
    },

    async forgetDeletion({ caller, params }) {
      const { sessionId } = params;
      if (!(await forgetDeletion(db, caller, sessionId, now()))) throw noDeletion();
      return { status: 200, body: { sessionId } };
    },

    async changeVisibility({ caller, params, body: { visibility } }) {
      const { userId, role } = caller;
      const decider = { viewer: await viewerOf(db, caller), userId, isAdmin: role !== 'member' };
      const was = found(await changeVisibility(db, decider, params.sessionId, visibility, now()), 'session');
      await publishAudienceChange(was);
      return { status: 200, body: { visibility } };
    },

    async restrictSession({ caller, params, body }) {
      const restricted = found(
        await restrictVisibility(db, caller, params.sessionId, body.visibility, now()),
        'session',
      );
      const { was, to } = restricted;
      if (was.visibility !== to) await publishAudienceChange(was);
      return { status: 200, body: { visibility: to } };
    },

    async listSessions({ caller, query }) {
      const limit = pageSize(query.limit);
      const offset = query.cursor === undefined ? 0 : readOffset(query.cursor);
      const rows = await listSessions(db, {
        viewer: await viewerOf(db, caller),
        plane: query.secretEnvironment ?? 'live',
        environmentId: query.environmentId,
        agentId: query.agentId,
        offset,
        limit: limit + 1,
      });
      const sessions = rows.slice(0, limit).filter(isKept).map(toSession);
      return { status: 200, body: { sessions, nextCursor: rows.length > limit ? writeOffset(offset + limit) : null } };
    },

    async getSession({ caller, params }) {
      const row = found(await findSession(db, await viewerOf(db, caller), params.sessionId), 'session');
      const mayChangeVisibility = decides({ userId: caller.userId, isAdmin: caller.role !== 'member' }, row);
      return {
        status: 200,
        body: { session: { ...toSession(row), ...(mayChangeVisibility && { mayChangeVisibility }) } },
      };
    },
  } satisfies Partial<Handlers>;
};

/** A session that is being deleted remains in the list's indexes for a moment. */
const isKept = ({ deleted_at: deletedAt }: SessionRow) => deletedAt === null;

/** Anything that is not a positive integer counts as the default. */
function pageSize(limit: string | undefined): number {
  if (limit === undefined || !/^\+?\d+$/.test(limit) || Number(limit) === 0) return DEFAULT_PAGE;
  return Math.min(Number(limit), MAX_PAGE);
}

const noDeletion = () => new Problem('not_found', 'This organization has deleted no such session.');
