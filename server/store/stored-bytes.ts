import { sql } from 'kysely';
import { forShare } from './dialect.ts';
import { oneRow } from './rows.ts';
import type { Db } from './schema.ts';

/** The usage of an organization that its quotas limit. */
export interface Stored {
  bytes: number;
  bytesToday: number;
}

/** @param day YYYY-MM-DD, UTC */
export async function readStored(db: Db, organizationId: string, day: string): Promise<Stored> {
  const { bytes, today } = await oneRow(
    db,
    sql<Record<'bytes' | 'today', number | string | null>>`
      select
        (select sum(bytes) from stored_bytes where organization_id = ${organizationId}) as bytes,
        (select bytes from stored_days where organization_id = ${organizationId} and day = ${day}) as today`,
  );
  return { bytes: Number(bytes), bytesToday: Number(today) };
}

/** How much an organization has sent since a day, including that day. */
export async function readSent(
  db: Db,
  organizationId: string,
  since: string,
): Promise<{ bytes: number; first: string | null }> {
  const row = await oneRow(
    db,
    sql<{ bytes: number | string | null; first: string | null }>`
      select sum(bytes) as bytes, min(day) as first from stored_days
      where organization_id = ${organizationId} and day >= ${since}`,
  );
  return { bytes: Number(row.bytes), first: row.first };
}

export interface Added {
  organizationId: string;
  sessionId: string;
  bytes: number;
}

/** Adds received bytes. The bytes of a deleted session count only for the day, and those of a deleted organization not at all. */
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
    for (const [organizationId, own] of [...byOrganization].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const bytes = own.reduce((sum, one) => sum + one.bytes, 0);
      await sql`
        insert into stored_days (organization_id, day, bytes)
        select organization_id, ${day}, cast(${bytes} as bigint) from organizations
        where organization_id = ${organizationId} and status <> 'deleted' ${forShare(transaction)}
        on conflict (organization_id, day) do update set bytes = stored_days.bytes + excluded.bytes`.execute(
        transaction,
      );
    }
  });

/** @param before YYYY-MM-DD */
export const purgeStoredDays = (db: Db, before: string) =>
  sql`delete from stored_days where day < ${before}`.execute(db);
