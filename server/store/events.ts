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
 * The appends that hold the sequences `from` to `to`, in order. Memory stays bounded whatever the range: as many bodies
 * are fetched as fit `FETCH_BYTES` by their sizes, which are known without reading them.
 */
export async function* readAppends(
  db: Db,
  organizationId: string,
  sessionId: string,
  from: number,
  to: number,
): AsyncGenerator<StoredAppend> {
  for (let next = from; next <= to; ) {
    const appends = await fetchAppends(db, organizationId, sessionId, next, to);
    const last = appends.at(-1);
    if (last === undefined) return;
    yield* appends;
    next = last.last_sequence + 1;
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

/** The run of appends that starts at `from` and fits one fetch. */
function fetchAppends(db: Db, organizationId: string, sessionId: string, from: number, to: number) {
  const sizes = inRange(db, organizationId, sessionId, from, to)
    .select((row) => ['first_sequence', row.fn<number>('octet_length', ['body']).as('bytes')])
    .limit(ROWS_LOOKED_AHEAD);
  const sums = db.selectFrom(sizes.as('sizes')).select((row) => [
    'first_sequence',
    'bytes',
    row.fn
      .sum<number>('bytes')
      .over((window) => window.orderBy('first_sequence'))
      .as('sum'),
  ]);
  return inRange(db, organizationId, sessionId, from, to)
    .where('first_sequence', '<=', (row) =>
      row
        .selectFrom(sums.as('sums'))
        .select((sum) => sum.fn.max('first_sequence').as('last'))
        .where((sum) => sum.or([sum('sum', '<=', FETCH_BYTES), sum('sum', '=', sum.ref('bytes'))])),
    )
    .select(['first_sequence', 'last_sequence', 'append_id', 'created_at', 'codec', 'body'])
    .execute();
}
