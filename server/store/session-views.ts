import { sql } from 'kysely';
import type { Look, SessionView, Surface } from '../../contract/session-view.ts';
import { toTimestamp } from './columns.ts';
import { forKeyShare } from './dialect.ts';
import { allRows } from './rows.ts';
import type { Db, SessionViewRow } from './schema.ts';

const HOUR_MS = 3_600_000;
const MAX_SHOWN = 500;

/** The looks of one member at a session, of one kind and within one hour. Times are epoch milliseconds. */
export interface Looks {
  organizationId: string;
  sessionId: string;
  userId: string;
  kind: Look;
  firstAt: number;
  lastAt: number;
  count: number;
  surface: Surface;
  network: string;
}

/** The start of the hour of a time. */
const hourOf = (time: number): number => time - (time % HOUR_MS);

/** The key of a row. Rows are written in this order, so that two processes with the same rows cannot deadlock. */
export const keyOfLooks = ({ sessionId, kind, firstAt, userId }: Looks): string =>
  [sessionId, kind, hourOf(firstAt), userId].join(' ');

/** Adds looks to the stored ones. Looks at deleted sessions are dropped, so that no data about them remains. */
export const addLooks = (db: Db, looks: readonly Looks[]): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const sorted = looks.toSorted((one, other) => (keyOfLooks(one) < keyOfLooks(other) ? -1 : 1));
    const ids = [...new Set(sorted.map(({ sessionId }) => sessionId))];
    const there = await allRows(
      transaction,
      sql<{ session_id: string }>`
        select session_id from sessions where session_id in (${sql.join(ids)}) and deleted_at is null
        order by session_id ${forKeyShare(transaction)}`,
    );
    const isThere = new Set(there.map((row) => row.session_id));
    const rows = sorted
      .filter(({ sessionId }) => isThere.has(sessionId))
      .map(
        (one) => sql`(${one.organizationId}, ${one.sessionId}, ${one.userId}, ${one.kind}, ${hourOf(one.firstAt)},
          ${one.firstAt}, ${one.lastAt}, ${one.count}, ${one.surface}, ${one.network})`,
      );
    if (rows.length === 0) return;
    await sql`
      insert into session_views (organization_id, session_id, user_id, kind, hour, first_at, last_at, count, surface,
        network)
      values ${sql.join(rows)}
      on conflict (session_id, kind, hour, user_id) do update set
        count = session_views.count + excluded.count, surface = excluded.surface, network = excluded.network,
        first_at = case when excluded.first_at < session_views.first_at then excluded.first_at
          else session_views.first_at end,
        last_at = case when excluded.last_at > session_views.last_at then excluded.last_at
          else session_views.last_at end`.execute(transaction);
  });

/** Lists the looks at a session, latest first. */
export const listSessionViews = (db: Db, organizationId: string, sessionId: string) =>
  allRows(
    db,
    sql<SessionViewRow>`
      select * from session_views where organization_id = ${organizationId} and session_id = ${sessionId}
      order by last_at desc, user_id, kind limit ${MAX_SHOWN}`,
  );

export const toSessionView = (row: SessionViewRow): SessionView => ({
  userId: row.user_id,
  kind: row.kind,
  firstAt: toTimestamp(row.first_at),
  lastAt: toTimestamp(row.last_at),
  count: Math.max(1, row.count),
  surface: row.surface,
  network: row.network,
});
