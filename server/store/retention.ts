import { sql } from 'kysely';
import { holdOf } from './held.ts';
import { allRows } from './rows.ts';
import type { Db } from './schema.ts';

/** A session without an event for long. */
export interface Unchanged {
  organizationId: string;
  sessionId: string;
  eventCount: number;
}

/** The position of a session in the order of opening. */
export interface Opened {
  createdAt: number;
  sessionId: string;
}

/**
 * Some sessions of all organizations without an event since a time, and without a hold, in the order of opening. It reads only sessions that were
 * opened before that time, which are few: most of them were deleted earlier.
 * @param before epoch milliseconds
 * @param after the last session of the previous call
 */
export const listUnchanged = (
  db: Db,
  before: number,
  after: Opened | undefined,
  limit: number,
): Promise<(Unchanged & Opened)[]> =>
  allRows(
    db,
    sql<Unchanged & Opened>`
      select organization_id as "organizationId", session_id as "sessionId", event_count as "eventCount",
        created_at as "createdAt"
      from sessions
      where created_at < ${before} and updated_at < ${before} and deleted_at is null
        and ${sql.raw(holdOf('sessions'))} is null
        ${after ? sql`and (created_at, session_id) > (${after.createdAt}, ${after.sessionId})` : sql``}
      order by created_at, session_id
      limit ${limit}`,
  );
