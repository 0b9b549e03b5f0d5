import type { Db } from './open.ts';

/**
 * Some of the sessions to which nothing has come since a time, of all organizations.
 * @param before epoch milliseconds
 */
export const listUnchanged = (
  db: Db,
  before: number,
  limit: number,
): Promise<{ organizationId: string; sessionId: string }[]> =>
  db
    .selectFrom('sessions')
    .select(['organization_id as organizationId', 'session_id as sessionId'])
    .where('updated_at', '<', before)
    .where('deleted_at', 'is', null)
    .limit(limit)
    .execute();
