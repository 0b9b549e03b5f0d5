import { type RawBuilder, sql } from 'kysely';
import type { Db } from './open.ts';
import { isPostgres } from './postgres.ts';
import { asService } from './tenant.ts';
import { wordPrefix } from './word-prefix.ts';

/** A word, or the beginning of one where it is `open`. */
export interface IndexedWord {
  word: string;
  open: boolean;
}

/** What a chunk must have: of each entry, all words of at least one alternative. */
export type WordsWanted = readonly (readonly (readonly IndexedWord[])[])[];

/** Consecutive events of a session. */
export interface EventRange {
  sessionId: string;
  first: number;
  last: number;
}

/** The query in the engine's language. Words have letters, digits and marks alone, so that nothing needs escaping. */
function expressionOf(db: Db, organizationId: string, wanted: WordsWanted): string {
  const prefix = wordPrefix(organizationId);
  const [quote, open, and, or] = isPostgres(db) ? ["'", ':*', ' & ', ' | '] : ['"', ' *', ' AND ', ' OR '];
  const written = (all: readonly IndexedWord[]) =>
    all.map((one) => `${quote}${prefix}${one.word}${quote}${one.open ? open : ''}`).join(and);
  return wanted.map((alternatives) => `(${alternatives.map((all) => `(${written(all)})`).join(or)})`).join(and);
}

/** The organization's chunks that have the words. */
function chunksWith(db: Db, organizationId: string, wanted: WordsWanted, ofFew = false): RawBuilder<unknown> {
  const expression = expressionOf(db, organizationId, wanted);
  if (!isPostgres(db)) return sql`chunk_id in (select rowid from chunk_words where chunk_words match ${expression})`;
  // The offset keeps PostgreSQL from beginning with another condition and unpacking the words of each chunk.
  return sql`(select session_id, first_sequence, last_sequence from session_chunks
    where organization_id = ${organizationId} and words @@ ${expression}::tsquery ${ofFew ? sql`` : sql`offset 0`}) as chunks`;
}

/**
 * Up to this many sessions, PostgreSQL may unpack their words instead of listing all chunks with a word. With a million
 * events a common word takes 4 instead of 8 ms; with four times as many sessions it would take 18 instead of 11.
 */
const FEW_SESSIONS = 200;

/** Plans that are off for a search: see `byIndex`. */
const OFF = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'].map(
  (name) => sql`set_config(${name}, 'off', true)`,
);

/**
 * Has PostgreSQL use the index of words. It does not know how much unpacking a chunk's words costs, nor how few sessions a
 * page looks at, so it would read every chunk where many have a word. Under row-level security it would never use the
 * index, because `@@` is not leakproof: the work is done as the service, and every query names its organization.
 */
export const byIndex = <Result>(db: Db, work: (db: Db) => Promise<Result>): Promise<Result> =>
  isPostgres(db)
    ? asService(() =>
        db.transaction().execute(async (transaction) => {
          await sql`select ${sql.join(OFF)}`.execute(transaction);
          return work(transaction);
        }),
      )
    : work(db);

/** Ids of sessions that have a chunk with the words; undefined where more than `most` chunks have them. */
export async function findByWords(
  db: Db,
  organizationId: string,
  wanted: WordsWanted,
  most: number,
): Promise<string[] | undefined> {
  const chunks = chunksWith(db, organizationId, wanted);
  const some = isPostgres(db)
    ? sql`select session_id from ${chunks} limit ${most + 1}`
    : sql`select session_id from session_chunks indexed by session_chunks_by_id
        where ${chunks} and organization_id = ${organizationId} limit ${most + 1}`;
  const array = isPostgres(db) ? sql`json_agg` : sql`json_group_array`;
  // One row: a common word would otherwise hand over thousands that nobody looks at.
  const { rows } = await sql<{ count: number; ids: string[] | string | null }>`
    select count(*) as count, case when count(*) <= ${most} then ${array}(distinct session_id) end as ids
    from (${some}) as found`.execute(db);
  const { count, ids } = rows[0] ?? { count: 0, ids: null };
  if (count > most) return undefined;
  return typeof ids === 'string' ? JSON.parse(ids) : (ids ?? []);
}

/** The sessions' chunks, from a sequence on, that have any of what is asked: in order, once for each `place` they have. */
export async function findChunks(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
  asked: readonly { place: number; words: WordsWanted }[],
  from = 1,
): Promise<(EventRange & { place: number })[]> {
  if (sessionIds.length === 0 || asked.length === 0) return [];
  const some = isPostgres(db)
    ? sql`any(${[...sessionIds]}::text[])`
    : sql`(select value from json_each(${JSON.stringify(sessionIds)}))`;
  const arms = asked.map(({ place, words }) => {
    const chunks = chunksWith(db, organizationId, words, sessionIds.length <= FEW_SESSIONS);
    const columns = sql`select session_id as "sessionId", first_sequence as "first", last_sequence as "last",
      cast(${place} as integer) as place from`;
    return isPostgres(db)
      ? sql`${columns} ${chunks} where session_id = ${some} and last_sequence >= ${from}`
      : // The plus keeps SQLite from fetching the rows one by one by their numbers.
        sql`${columns} session_chunks where session_id in ${some} and organization_id = ${organizationId}
          and last_sequence >= ${from} and +${chunks}`;
  });
  const { rows } = await sql<EventRange & { place: number }>`
    ${sql.join(arms, sql` union all `)} order by 1, 2`.execute(db);
  return rows;
}

/** The last event of a session that is indexed; 0 where none is. */
export async function lastIndexed(db: Db, organizationId: string, sessionId: string): Promise<number> {
  const row = await db
    .selectFrom('session_chunks')
    .select('last_sequence')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .orderBy('first_sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.last_sequence ?? 0;
}
