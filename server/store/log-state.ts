import { wasDeleted } from './deletions.ts';
import type { Db, SessionRow } from './schema.ts';

/** A session as the head of its log is read from the store; `event_count` is the last used sequence. */
export interface LogState {
  session: Pick<SessionRow, 'plane' | 'event_count' | 'client_ended_at'> & { status: SessionRow['status'] | 'deleted' };
  /** Undefined where there are too many to be read at once. */
  keys: KeyedAppend[] | undefined;
}

export interface KeyedAppend {
  idempotency_key: string | null;
  fingerprint: string | null;
  first_sequence: number;
  last_sequence: number;
  append_id: string;
}

/** Appends of a session whose keys are read at once, in about 20 ms; a session has some hundred. */
const MOST_KEYS = 5_000;

/** The session with the keys of its appends; undefined when the organization has none of that id. */
export async function readLogState(db: Db, organizationId: string, sessionId: string): Promise<LogState | undefined> {
  const row = await db
    .selectFrom('sessions')
    .select(['plane', 'status', 'event_count', 'client_ended_at', 'deleted_at'])
    .select((of) =>
      of
        .selectFrom('appends')
        .select('last_sequence')
        .whereRef('appends.organization_id', '=', 'sessions.organization_id')
        .whereRef('appends.session_id', '=', 'sessions.session_id')
        .orderBy('first_sequence', 'desc')
        .limit(1)
        .as('last_sequence'),
    )
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  if (!row) return findGone(db, organizationId, sessionId);
  if (row.deleted_at !== null) return { session: { ...row, status: 'deleted' }, keys: [] };
  // Behind a gap there are events that are not counted yet, as they are not to be read, and their numbers are taken.
  const event_count = Math.max(row.event_count, row.last_sequence ?? 0);
  const keys = await keyedAppends(db, organizationId, sessionId)
    .where('idempotency_key', 'is not', null)
    .limit(MOST_KEYS + 1)
    .execute();
  return { session: { ...row, event_count }, keys: keys.length > MOST_KEYS ? undefined : keys };
}

export const findKeyedAppend = (
  db: Db,
  organizationId: string,
  sessionId: string,
  key: string,
): Promise<KeyedAppend | undefined> =>
  keyedAppends(db, organizationId, sessionId).where('idempotency_key', '=', key).executeTakeFirst();

/** The id of a session of any organization whose events do not all follow each other. */
export async function findWithGap(db: Db): Promise<string | undefined> {
  const row = await db
    .selectFrom('sessions')
    .select('session_id')
    .where('deleted_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('appends')
          .select('append_id')
          .whereRef('appends.session_id', '=', 'sessions.session_id')
          .whereRef('first_sequence', '>', 'event_count'),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return row?.session_id;
}

const keyedAppends = (db: Db, organizationId: string, sessionId: string) =>
  db
    .selectFrom('appends')
    .select(['idempotency_key', 'fingerprint', 'first_sequence', 'last_sequence', 'append_id'])
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId);

async function findGone(db: Db, organizationId: string, sessionId: string): Promise<LogState | undefined> {
  for (const plane of ['live', 'test'] as const) {
    if (await wasDeleted(db, organizationId, plane, sessionId)) {
      return { session: { plane, status: 'deleted', event_count: 0, client_ended_at: null }, keys: [] };
    }
  }
  return undefined;
}
