import type { Db } from './open.ts';

/** A session to which nothing has come for long. */
export interface Unchanged {
  organizationId: string;
  sessionId: string;
  eventCount: number;
}

/**
 * Some of the sessions to which nothing has come since a time, of all organizations, in the order of their ids.
 * @param before epoch milliseconds
 * @param after id of the one behind which they begin
 */
export const listUnchanged = (db: Db, before: number, after: string, limit: number): Promise<Unchanged[]> =>
  db
    .selectFrom('sessions')
    .select(['organization_id as organizationId', 'session_id as sessionId', 'event_count as eventCount'])
    .where('updated_at', '<', before)
    .where('deleted_at', 'is', null)
    .where('session_id', '>', after)
    .orderBy('session_id')
    .limit(limit)
    .execute();
