import { sql } from 'kysely';
import type { Db } from './open.ts';

/** A session to which nothing has come for long. */
export interface Unchanged {
  organizationId: string;
  sessionId: string;
  eventCount: number;
}

/** Its place in the order in which sessions were opened. */
export interface Opened {
  createdAt: number;
  sessionId: string;
}

/**
 * Some of the sessions to which nothing has come since a time, of all organizations, in the order they were opened. Only
 * sessions opened before that time are looked at, and of these few are left: the others were deleted by then.
 * @param before epoch milliseconds
 * @param after the one behind which they begin
 */
export const listUnchanged = (
  db: Db,
  before: number,
  after: Opened | undefined,
  limit: number,
): Promise<(Unchanged & Opened)[]> =>
  db
    .selectFrom('sessions')
    .select(['organization_id as organizationId', 'session_id as sessionId', 'event_count as eventCount'])
    .select('created_at as createdAt')
    .where('created_at', '<', before)
    .where('updated_at', '<', before)
    .where('deleted_at', 'is', null)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, session_id) > (${after?.createdAt}, ${after?.sessionId})`),
    )
    .orderBy('created_at')
    .orderBy('session_id')
    .limit(limit)
    .execute();
