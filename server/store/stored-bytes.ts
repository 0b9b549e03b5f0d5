import { sql } from 'kysely';
import type { Db } from './schema.ts';

/** The usage of an organization that its quotas limit. */
export interface Stored {
  bytes: number;
  bytesToday: number;
  sessions: number;
}

/** @param day YYYY-MM-DD, UTC */
export async function readStored(db: Db, organizationId: string, day: string): Promise<Stored> {
  const { bytes } = await db
    .selectFrom('stored_bytes')
    .select((row) => row.fn.sum<number | null>('bytes').as('bytes'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const today = await db
    .selectFrom('stored_days')
    .select('bytes')
    .where('organization_id', '=', organizationId)
    .where('day', '=', day)
    .executeTakeFirst();
  const { sessions } = await db
    .selectFrom('sessions')
    .select((row) => row.fn.countAll<number>().as('sessions'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return { bytes: Number(bytes), bytesToday: Number(today?.bytes ?? 0), sessions: Number(sessions) };
}

/** What an organization sent since a day, which is included. */
export async function readSent(
  db: Db,
  organizationId: string,
  since: string,
): Promise<{ bytes: number; first: string | null }> {
  const row = await db
    .selectFrom('stored_days')
    .select((days) => [days.fn.sum<number | null>('bytes').as('bytes'), days.fn.min('day').as('first')])
    .where('organization_id', '=', organizationId)
    .where('day', '>=', since)
    .executeTakeFirstOrThrow();
  return { bytes: Number(row.bytes), first: row.first };
}

export interface Added {
  organizationId: string;
  sessionId: string;
  bytes: number;
}

/** Adds received bytes. Those of a deleted session count for the day only. */
export const addStored = (db: Db, added: readonly Added[], day: string): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    // Sorted, so that two replicas cannot deadlock.
    const bySession = [...added].sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
    const values = sql.join(bySession.map(({ sessionId, bytes }) => sql`(${sessionId}, ${bytes})`));
    await sql`
      insert into stored_bytes (session_id, organization_id, bytes)
      select sessions.session_id, sessions.organization_id, cast(added.column2 as bigint)
      from (values ${values}) as added join sessions on sessions.session_id = added.column1
      where sessions.deleted_at is null
      on conflict (session_id) do update set bytes = stored_bytes.bytes + excluded.bytes`.execute(transaction);
    const byOrganization = Map.groupBy(added, ({ organizationId }) => organizationId);
    for (const [organization_id, own] of [...byOrganization].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const bytes = own.reduce((sum, one) => sum + one.bytes, 0);
      await transaction
        .insertInto('stored_days')
        .values({ organization_id, day, bytes })
        .onConflict((conflict) =>
          conflict
            .columns(['organization_id', 'day'])
            .doUpdateSet((row) => ({ bytes: row('stored_days.bytes', '+', bytes) })),
        )
        .execute();
    }
  });

/** @param before YYYY-MM-DD */
export const purgeStoredDays = (db: Db, before: string) =>
  db.deleteFrom('stored_days').where('day', '<', before).execute();

/** An open session without an event for this long does not count, because a killed CI job never closes its session. */
const OPEN_FOR_MS = 30 * 24 * 3_600_000;

/**
 * Counts the open sessions of a machine that were opened or got an event in the last 30 days. It reads only the newest
 * sessions, twice the limit, so that a million abandoned sessions cost no more.
 */
export async function countOpen(
  db: Db,
  organizationId: string,
  environmentId: string,
  limit: number,
  now: number,
): Promise<number> {
  const newest = db
    .selectFrom('sessions')
    .select('updated_at')
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'active')
    .orderBy('session_id', 'desc')
    .limit(2 * limit)
    .as('newest');
  const { count } = await db
    .selectFrom(newest)
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('updated_at', '>', now - OPEN_FOR_MS)
    .executeTakeFirstOrThrow();
  return Number(count);
}
