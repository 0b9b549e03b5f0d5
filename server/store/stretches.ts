import { sql } from 'kysely';
import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import type { StoredAppend } from './events.ts';
import type { Db } from './open.ts';
import { isPostgres } from './postgres.ts';
import type { Stretch } from './words.ts';

/** An append that holds events of the stretches at the places `at`. */
export interface AppendOf extends StoredAppend {
  at: number[];
}

/** Stored bytes fetched in one go, at most, unless a single append is larger. */
const FETCH_BYTES = 1024 * 1024;

/**
 * The appends that hold the events of stretches, of one stretch after the other, as many at once as memory allows: what
 * two stretches that follow each other share comes once.
 */
export async function* readAppendsOf(
  db: Db,
  organizationId: string,
  stretches: readonly Stretch[],
): AsyncGenerator<AppendOf[]> {
  if (stretches.length === 0) return;
  for (let read = 0, count = 1; read < count; ) {
    const appends = await fetchNext(db, organizationId, stretches, read);
    if (appends.length === 0) return;
    count = appends[0]?.count ?? 0;
    read += appends.length;
    yield appends.map(({ count: _, at, ...append }) => ({
      ...append,
      at: typeof at === 'string' ? JSON.parse(at) : at,
    }));
  }
}

interface Fetched extends StoredAppend {
  /** SQLite has arrays as JSON only. */
  at: number[] | string;
  /** Of all the appends there are. */
  count: number;
}

async function fetchNext(
  db: Db,
  organizationId: string,
  stretches: readonly Stretch[],
  read: number,
): Promise<Fetched[]> {
  const asked = JSON.stringify(stretches.map(({ sessionId: id, first, last }, at) => ({ at, id, first, last })));
  const [rows, places] = isPostgres(db)
    ? [sql`json_to_recordset(${asked}::json) as asked (at integer, id text, first bigint, last bigint)`, sql`json_agg`]
    : [
        sql`(select value ->> 'at' as at, value ->> 'id' as id, value ->> 'first' as first, value ->> 'last' as last
          from json_each(${asked})) as asked`,
        sql`json_group_array`,
      ];
  const { rows: found } = await sql<Fetched>`
    select next.at, next.count, appends.first_sequence, appends.last_sequence, appends.append_id, appends.created_at,
      appends.codec, appends.body
    from (
      select *, sum(bytes) over (order by place) as total from (
        select appends.session_id, appends.first_sequence, ${places}(asked.at) as at,
          max(octet_length(appends.body)) as bytes, count(*) over () as count,
          row_number() over (order by min(asked.at), appends.first_sequence) as place
        from ${rows} cross join appends
        where appends.session_id = asked.id and appends.organization_id = ${organizationId}
          and appends.first_sequence > asked.first - ${sql.lit(MAX_BATCH_EVENTS)}
          and appends.first_sequence <= asked.last and appends.last_sequence >= asked.first
        group by appends.session_id, appends.first_sequence
      ) as held where place > ${read}
    ) as next cross join appends
    where (next.total <= ${FETCH_BYTES} or next.place = ${read} + 1)
      and appends.session_id = next.session_id and appends.first_sequence = next.first_sequence
      and appends.organization_id = ${organizationId}
    order by next.place
  `.execute(db);
  return found;
}
