import type { AgentId } from '../../contract/agent.ts';
import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import type { Session } from '../../contract/session.ts';
import type { Db } from './open.ts';
import type { SessionRow } from './schema.ts';
import { optional, optionalTimestamp, toTimestamp } from './time.ts';

export const toSession = (row: SessionRow): Session => ({
  sessionId: row.session_id,
  organizationId: row.organization_id,
  environmentId: row.environment_id,
  agentInstallationId: row.installation_id,
  agentId: row.agent_id,
  status: row.status,
  secretEnvironment: row.plane,
  ...optional('title', row.title),
  startedAt: toTimestamp(row.started_at),
  ...optionalTimestamp('endedAt', row.ended_at),
  eventCount: row.event_count,
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
});

/** A session of the organization, of either plane. */
export const findSession = (db: Db, organizationId: string, sessionId: string) =>
  db
    .selectFrom('sessions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();

export interface Closing {
  organizationId: string;
  plane: Plane;
  sessionId: string;
  status: 'completed' | 'failed';
  /** Milliseconds since the epoch; absent: what the client said when it opened the session, else now. */
  endedAt: number | undefined;
}

/**
 * Closes an active session.
 * @throws Problem `not_found`, `session_already_closed`
 */
export async function closeSession(db: Db, closing: Closing, now: number): Promise<SessionRow> {
  const row = await db
    .updateTable('sessions')
    .set((row) => ({
      status: closing.status,
      ended_at: closing.endedAt ?? row.fn.coalesce('client_ended_at', row.val(now)),
      updated_at: now,
    }))
    .where('organization_id', '=', closing.organizationId)
    .where('plane', '=', closing.plane)
    .where('session_id', '=', closing.sessionId)
    .where('status', '=', 'active')
    .returningAll()
    .executeTakeFirst();
  if (row) return row;
  const closed = await findSession(db, closing.organizationId, closing.sessionId);
  if (closed?.plane !== closing.plane) throw new Problem('not_found', 'No such session in this organization.');
  throw new Problem('session_already_closed', 'The session is closed already; nothing was changed.');
}

export interface SessionFilter {
  organizationId: string;
  plane: Plane | 'all';
  environmentId?: string | undefined;
  agentId?: string | undefined;
  offset: number;
  limit: number;
}

/** Newest first, the id being the tie-break. */
export function listSessions(db: Db, filter: SessionFilter): Promise<SessionRow[]> {
  const { plane, environmentId, agentId } = filter;
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('organization_id', '=', filter.organizationId)
    .where('deleted_at', 'is', null)
    .$if(plane !== 'all', (query) => query.where('plane', '=', plane as Plane))
    .$if(environmentId !== undefined, (query) => query.where('environment_id', '=', environmentId as string))
    .$if(agentId !== undefined, (query) => query.where('agent_id', '=', agentId as AgentId))
    .orderBy('started_at', 'desc')
    .orderBy('session_id', 'desc')
    .offset(filter.offset)
    .limit(filter.limit)
    .execute();
}
