import { sql } from 'kysely';
import { recordAction } from './audit.ts';
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

/**
 * Notes in the audit logs which sessions have expired since the last time: one entry for each organization, with their
 * number. What a process that was killed left is noted by the next one.
 */
export async function recordExpired(db: Db, now: number): Promise<void> {
  const organizations = await allRows(
    db,
    sql<{ organization_id: string }>`
      select distinct organization_id from deleted_sessions where last_event_at is not null and is_noted = 0`,
  );
  for (const { organization_id: organizationId } of organizations) {
    await db.transaction().execute(async (transaction) => {
      const expired = await allRows(
        transaction,
        sql<{ event_count: number }>`
          update deleted_sessions set is_noted = 1
          where organization_id = ${organizationId} and last_event_at is not null and is_noted = 0
          returning event_count`,
      );
      if (expired.length === 0) return;
      const actor = { kind: 'service', id: 'retention' } as const;
      const target = { kind: 'organization', id: organizationId } as const;
      const events = expired.reduce((sum, row) => sum + row.event_count, 0);
      const details = { sessions: expired.length, events };
      await recordAction(transaction, organizationId, { actor, action: 'session.expired', target, details }, now);
    });
  }
}
