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

interface Size extends Pick<AppendOf, 'at' | 'first_sequence'> {
  session_id: string;
  bytes: number;
}

/**
 * The appends that hold the events of stretches, of one stretch after the other, as many at once as memory allows: what
 * two stretches that follow each other share comes once.
 */
export async function* readAppendsOf(
  db: Db,
  organizationId: string,
  stretches: readonly Stretch[],
): AsyncGenerator<AppendOf[]> {
  const sizes = await findSizes(db, organizationId, stretches);
  for (let from = 0, to = 0; from < sizes.length; from = to) {
    for (let bytes = 0; to < sizes.length && (to === from || bytes + sizeAt(to) <= FETCH_BYTES); to++)
      bytes += sizeAt(to);
    yield await fetchBodies(db, organizationId, sizes.slice(from, to));
  }

  function sizeAt(n: number): number {
    return sizes[n]?.bytes ?? 0;
  }
}

const textOf = (rows: readonly object[]) => JSON.stringify(rows);

async function findSizes(db: Db, organizationId: string, stretches: readonly Stretch[]): Promise<Size[]> {
  if (stretches.length === 0) return [];
  const rows = textOf(stretches.map(({ sessionId, first, last }, at) => ({ at, id: sessionId, first, last })));
  const asked = isPostgres(db)
    ? sql`json_to_recordset(${rows}::json) as asked (at integer, id text, first bigint, last bigint)`
    : sql`(select value ->> 'at' as at, value ->> 'id' as id, value ->> 'first' as first, value ->> 'last' as last
        from json_each(${rows})) as asked`;
  const { rows: found } = await sql<Omit<Size, 'at'> & { at: number }>`
    select asked.at, appends.session_id, appends.first_sequence, octet_length(appends.body) as bytes
    from ${asked} cross join appends
    where appends.session_id = asked.id and appends.organization_id = ${organizationId}
      and appends.first_sequence > asked.first - ${sql.lit(MAX_BATCH_EVENTS)} and appends.first_sequence <= asked.last
      and appends.last_sequence >= asked.first
    order by asked.at, appends.first_sequence
  `.execute(db);
  const sizes: Size[] = [];
  for (const { at, ...append } of found) {
    const last = sizes.at(-1);
    if (last?.session_id === append.session_id && last.first_sequence === append.first_sequence) last.at.push(at);
    else sizes.push({ ...append, at: [at] });
  }
  return sizes;
}

async function fetchBodies(db: Db, organizationId: string, sizes: readonly Size[]): Promise<AppendOf[]> {
  const rows = textOf(sizes.map(({ session_id: id, first_sequence: first }, at) => ({ at, id, first })));
  const asked = isPostgres(db)
    ? sql`json_to_recordset(${rows}::json) as asked (at integer, id text, first bigint)`
    : sql`(select value ->> 'at' as at, value ->> 'id' as id, value ->> 'first' as first from json_each(${rows})) as asked`;
  const found = await sql<StoredAppend & { at: number }>`
    select asked.at, appends.first_sequence, appends.last_sequence, appends.append_id, appends.created_at,
      appends.codec, appends.body
    from ${asked} cross join appends
    where appends.session_id = asked.id and appends.first_sequence = asked.first
      and appends.organization_id = ${organizationId}
    order by asked.at
  `.execute(db);
  return found.rows.map((append) => ({ ...append, at: sizes[append.at]?.at ?? [] }));
}
