import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import type { Db } from './open.ts';

/** An append as read back. */
export interface StoredAppend {
  first_sequence: number;
  last_sequence: number;
  append_id: string;
  created_at: number;
  codec: number;
  body: Uint8Array;
}

/** Stored bytes fetched in one go, at most, unless a single append is larger. */
const FETCH_BYTES = 1024 * 1024;
const ROWS_LOOKED_AHEAD = 200;

/**
 * The appends that hold the sequences `from` to `to`, in order. Memory stays bounded whatever the range: sizes are
 * looked up first, and as many bodies fetched as fit `FETCH_BYTES`.
 */
export async function* readAppends(
  db: Db,
  organizationId: string,
  sessionId: string,
  from: number,
  to: number,
): AsyncGenerator<StoredAppend> {
  for (let next = from; next <= to; ) {
    const last = await lastThatFits(db, organizationId, sessionId, next, to);
    if (last === undefined) return;
    yield* await fetchAppends(db, organizationId, sessionId, next, last);
    next = last + 1;
  }
}

const inRange = (db: Db, organizationId: string, sessionId: string, from: number, to: number) =>
  db
    .selectFrom('appends')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    // An append that holds `from` starts less than the longest batch before it.
    .where('first_sequence', '>', from - MAX_BATCH_EVENTS)
    .where('first_sequence', '<=', to)
    .where('last_sequence', '>=', from)
    .orderBy('first_sequence');

/** The last sequence of the run of appends that starts at `from` and fits one fetch. */
async function lastThatFits(db: Db, organizationId: string, sessionId: string, from: number, to: number) {
  const rows = await inRange(db, organizationId, sessionId, from, to)
    .select((row) => ['last_sequence', row.fn<number>('octet_length', ['body']).as('bytes')])
    .limit(ROWS_LOOKED_AHEAD)
    .execute();
  let bytes = 0;
  let last: number | undefined;
  for (const row of rows) {
    bytes += Number(row.bytes);
    if (last !== undefined && bytes > FETCH_BYTES) break;
    last = row.last_sequence;
  }
  return last;
}

const fetchAppends = (db: Db, organizationId: string, sessionId: string, from: number, to: number) =>
  inRange(db, organizationId, sessionId, from, to)
    .select(['first_sequence', 'last_sequence', 'append_id', 'created_at', 'codec', 'body'])
    .execute();
