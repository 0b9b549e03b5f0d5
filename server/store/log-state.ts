import { sql } from 'kysely';
import { findRemoval } from './removals.ts';
import { allRows, firstRow } from './rows.ts';
import type { AppendRow, Db, SessionRow } from './schema.ts';

type StateColumn = 'plane' | 'status' | 'event_count' | 'client_ended_at';

/** The head of a session's log as the store knows it. `event_count` is the last used sequence. */
export interface LogState {
  session: Pick<SessionRow, 'plane' | 'event_count' | 'client_ended_at'> & { status: SessionRow['status'] | 'deleted' };
  /** Undefined if there are too many keys to read at once. */
  keys: KeyedAppend[] | undefined;
}

export type KeyedAppend = Pick<
  AppendRow,
  'idempotency_key' | 'append_id' | 'fingerprint' | 'first_sequence' | 'last_sequence'
>;

/** How many keys of a session are read at once at most, in about 20 ms. A session usually has some hundred. */
const MAX_KEYS = 5_000;

/** The session with the keys of its appends; undefined if the organization has no such session. */
export async function readLogState(db: Db, organizationId: string, sessionId: string): Promise<LogState | undefined> {
  const row = await firstRow(
    db,
    sql<Pick<SessionRow, StateColumn | 'deleted_at'> & { last_sequence: number | null }>`
      select plane, status, event_count, client_ended_at, deleted_at,
        (
          select last_sequence from appends
          where appends.organization_id = sessions.organization_id and appends.session_id = sessions.session_id
          order by first_sequence desc limit 1
        ) as last_sequence
      from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );
  if (!row) return findGone(db, organizationId, sessionId);
  if (row.deleted_at !== null) return { session: { ...row, status: 'deleted' }, keys: [] };
  // Events after a gap are not counted, because nobody may read them yet, but their numbers are taken.
  const event_count = Math.max(row.event_count, row.last_sequence ?? 0);
  const keys = await allRows(
    db,
    sql<KeyedAppend>`
      ${keyedAppends(organizationId, sessionId)} and idempotency_key is not null limit ${MAX_KEYS + 1}`,
  );
  return { session: { ...row, event_count }, keys: keys.length > MAX_KEYS ? undefined : keys };
}

export const findKeyedAppend = (
  db: Db,
  organizationId: string,
  sessionId: string,
  key: string,
): Promise<KeyedAppend | undefined> =>
  firstRow(db, sql<KeyedAppend>`${keyedAppends(organizationId, sessionId)} and idempotency_key = ${key}`);

/** The id of a session, in any organization, that has a gap between its events. */
export async function findWithGap(db: Db): Promise<string | undefined> {
  const row = await firstRow(
    db,
    sql<{ session_id: string }>`
      select session_id from sessions
      where deleted_at is null and exists (
        select 1 from appends where appends.session_id = sessions.session_id and first_sequence > event_count
      )
      limit 1`,
  );
  return row?.session_id;
}

const keyedAppends = (organizationId: string, sessionId: string) => sql`
  select idempotency_key, fingerprint, first_sequence, last_sequence, append_id from appends
  where organization_id = ${organizationId} and session_id = ${sessionId}`;

async function findGone(db: Db, organizationId: string, sessionId: string): Promise<LogState | undefined> {
  const deleted = await findRemoval(db, { organizationId, sessionId }, 'session');
  if (!deleted) return undefined;
  return { session: { plane: deleted.plane, status: 'deleted', event_count: 0, client_ended_at: null }, keys: [] };
}
