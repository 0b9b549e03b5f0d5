import { sql } from 'kysely';
import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import { nameSession } from '../log/damaged.ts';
import type { SessionKey } from '../log/decide.ts';
import { damageIn, fromJsonArray, jsonArray, ofEngine } from './dialect.ts';
import { isPostgres } from './postgres.ts';
import { allRows } from './rows.ts';
import type { AppendRow, Db } from './schema.ts';
import type { EventRange } from './word-index.ts';

/** A stored append. */
export type StoredAppend = Pick<
  AppendRow,
  'first_sequence' | 'last_sequence' | 'append_id' | 'created_at' | 'codec' | 'body'
>;

/** How many stored bytes one query fetches at most. A single larger append is fetched alone. */
const FETCH_BYTES = 1024 * 1024;
const ROWS_LOOKED_AHEAD = 200;

/**
 * Reads the appends with the events `from` to `to`, in order. Memory is bounded for any range: each query fetches only as many
 * bodies as fit into `FETCH_BYTES`. The engine knows the sizes of the bodies without reading them.
 * @throws DamagedSession
 */
export async function* readAppends(
  db: Db,
  organizationId: string,
  sessionId: string,
  from: number,
  to: number,
): AsyncGenerator<StoredAppend> {
  for (let next = from; next <= to; ) {
    const appends = await fetchAppends(db, organizationId, sessionId, next, to).catch((error) => {
      throw nameSession({ organizationId, sessionId }, damageIn(error) ?? error);
    });
    const last = appends.at(-1);
    if (last === undefined) return;
    yield* appends;
    next = last.last_sequence + 1;
  }
}

/** Fetches the appends from `from` on that fit into one query. */
function fetchAppends(db: Db, organizationId: string, sessionId: string, from: number, to: number) {
  // The append that contains `from` starts at most one longest batch before `from`.
  const inRange = sql`
    organization_id = ${organizationId} and session_id = ${sessionId}
      and first_sequence > ${from - MAX_BATCH_EVENTS} and first_sequence <= ${to} and last_sequence >= ${from}`;
  return allRows(
    db,
    sql<StoredAppend>`
      select first_sequence, last_sequence, append_id, created_at, codec, body from appends
      where ${inRange} and first_sequence <= (
        select max(first_sequence) from (
          select first_sequence, bytes, sum(bytes) over (order by first_sequence) as total from (
            select first_sequence, octet_length(body) as bytes from appends
            where ${inRange} order by first_sequence limit ${ROWS_LOOKED_AHEAD}
          ) as sizes
        ) as sums
        where total <= ${FETCH_BYTES} or total = bytes
      )
      order by first_sequence`,
  );
}

/**
 * Reads all appends of a session in the embedded store before background work changes them. If the connection that writes met the
 * damage, the service would end, and again after each start.
 * @throws DamagedSession
 */
export async function assertReadable(db: Db, { organizationId, sessionId }: SessionKey): Promise<void> {
  if (isPostgres(db)) return;
  for await (const _ of readAppends(db, organizationId, sessionId, 1, LAST_SEQUENCE));
}

/** The largest value of the column on PostgreSQL. */
const LAST_SEQUENCE = 2 ** 31 - 1;

/** An append with events of some ranges. `at` has the indexes of these ranges in the list. */
export interface AppendOf extends StoredAppend {
  at: number[];
}

/**
 * Reads the appends with the events of the ranges, one range after the other, in batches of about a megabyte. An append
 * with events of several ranges is read once.
 * @throws Damaged
 */
export async function* readAppendsOf(
  db: Db,
  organizationId: string,
  ranges: readonly EventRange[],
): AsyncGenerator<AppendOf[]> {
  if (ranges.length === 0) return;
  // The next page begins after the last append, so that deleting a session meanwhile does not shift the pages.
  for (let last: Last | undefined = { begin: -1, first: 0 }; last; ) {
    const appends: Fetched[] = await fetchNext(db, organizationId, ranges, last).catch((error) => {
      throw damageIn(error) ?? error;
    });
    const end = appends.at(-1);
    last = end && appends.length < end.count ? { begin: end.begin, first: end.first_sequence } : undefined;
    yield appends.map(({ count: _, begin: __, at, ...append }) => ({
      ...append,
      at: fromJsonArray(at),
    }));
  }
}

interface Fetched extends StoredAppend {
  /** JSON on SQLite, because it has no arrays. */
  at: number[] | string;
  /** The first index in `at`. */
  begin: number;
  /** How many appends were not fetched before. */
  count: number;
}

/** The last fetched append. */
interface Last {
  begin: number;
  first: number;
}

function fetchNext(db: Db, organizationId: string, ranges: readonly EventRange[], last: Last): Promise<Fetched[]> {
  const asked = JSON.stringify(ranges.map(({ sessionId: id, first, last }, at) => ({ at, id, first, last })));
  const rows = ofEngine(db, {
    postgres: sql`json_to_recordset(${asked}::json) as asked (at integer, id text, first bigint, last bigint)`,
    sqlite: sql`(select value ->> 'at' as at, value ->> 'id' as id, value ->> 'first' as first, value ->> 'last' as last
      from json_each(${asked})) as asked`,
  });
  return allRows(
    db,
    sql<Fetched>`
    select next.at, next.begin, next.count, appends.first_sequence, appends.last_sequence, appends.append_id, appends.created_at,
      appends.codec, appends.body
    from (
      select *, sum(bytes) over (order by begin, first_sequence) as total, count(*) over () as count from (
        select appends.session_id, appends.first_sequence, ${jsonArray(db)}(asked.at) as at,
          min(asked.at) as begin, max(octet_length(appends.body)) as bytes
        from ${rows} cross join appends
        where appends.session_id = asked.id and appends.organization_id = ${organizationId}
          and appends.first_sequence > asked.first - ${sql.lit(MAX_BATCH_EVENTS)}
          and appends.first_sequence <= asked.last and appends.last_sequence >= asked.first
        group by appends.session_id, appends.first_sequence
      ) as sized where (begin, first_sequence) > (${last.begin}, ${last.first})
    ) as next cross join appends
    where (next.total <= ${FETCH_BYTES} or next.total = next.bytes)
      and appends.session_id = next.session_id and appends.first_sequence = next.first_sequence
      and appends.organization_id = ${organizationId}
    order by next.begin, next.first_sequence`,
  );
}
