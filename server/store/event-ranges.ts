import { sql } from 'kysely';
import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import type { StoredAppend } from './events.ts';
import type { Db } from './open.ts';
import { isPostgres } from './postgres.ts';
import type { EventRange } from './word-index.ts';

/** An append that holds events of ranges, which are told by their places in the list that was asked for. */
export interface AppendOf extends StoredAppend {
  at: number[];
}

/** Stored bytes fetched by one query, unless a single append is larger. */
const FETCH_BYTES = 1024 * 1024;

/**
 * Reads the appends that hold the events of ranges, one range after the other, in batches of about a megabyte. An append
 * that several ranges share comes once.
 */
export async function* readAppendsOf(
  db: Db,
  organizationId: string,
  ranges: readonly EventRange[],
): AsyncGenerator<AppendOf[]> {
  if (ranges.length === 0) return;
  // Pages go by the append that came last, so that a session deleted meanwhile shifts nothing.
  for (let last: Last | undefined = { begin: -1, first: 0 }; last; ) {
    const appends = await fetchNext(db, organizationId, ranges, last);
    const end = appends.at(-1);
    last = end && appends.length < end.count ? { begin: end.begin, first: end.first_sequence } : undefined;
    yield appends.map(({ count: _, begin: __, at, ...append }) => ({
      ...append,
      at: typeof at === 'string' ? JSON.parse(at) : at,
    }));
  }
}

interface Fetched extends StoredAppend {
  /** JSON on SQLite, which has no arrays. */
  at: number[] | string;
  /** The first of them. */
  begin: number;
  /** Of the appends that were not fetched before. */
  count: number;
}

/** The append that was fetched last. */
interface Last {
  begin: number;
  first: number;
}

async function fetchNext(
  db: Db,
  organizationId: string,
  ranges: readonly EventRange[],
  last: Last,
): Promise<Fetched[]> {
  const asked = JSON.stringify(ranges.map(({ sessionId: id, first, last }, at) => ({ at, id, first, last })));
  const [rows, places] = isPostgres(db)
    ? [sql`json_to_recordset(${asked}::json) as asked (at integer, id text, first bigint, last bigint)`, sql`json_agg`]
    : [
        sql`(select value ->> 'at' as at, value ->> 'id' as id, value ->> 'first' as first, value ->> 'last' as last
          from json_each(${asked})) as asked`,
        sql`json_group_array`,
      ];
  const { rows: found } = await sql<Fetched>`
    select next.at, next.begin, next.count, appends.first_sequence, appends.last_sequence, appends.append_id, appends.created_at,
      appends.codec, appends.body
    from (
      select *, sum(bytes) over (order by begin, first_sequence) as total, count(*) over () as count from (
        select appends.session_id, appends.first_sequence, ${places}(asked.at) as at,
          min(asked.at) as begin, max(octet_length(appends.body)) as bytes
        from ${rows} cross join appends
        where appends.session_id = asked.id and appends.organization_id = ${organizationId}
          and appends.first_sequence > asked.first - ${sql.lit(MAX_BATCH_EVENTS)}
          and appends.first_sequence <= asked.last and appends.last_sequence >= asked.first
        group by appends.session_id, appends.first_sequence
      ) as held where (begin, first_sequence) > (${last.begin}, ${last.first})
    ) as next cross join appends
    where (next.total <= ${FETCH_BYTES} or next.total = next.bytes)
      and appends.session_id = next.session_id and appends.first_sequence = next.first_sequence
      and appends.organization_id = ${organizationId}
    order by next.begin, next.first_sequence
  `.execute(db);
  return found;
}
