import { type RawBuilder, sql } from 'kysely';
import type { Db } from './open.ts';
import { isPostgres } from './postgres.ts';

/** A word of a chunk; `open` where it may go on. */
export interface IndexedWord {
  word: string;
  open: boolean;
}

/** What a chunk must have: all of these, of each one of its alternatives, of that all words. */
export type WordsWanted = readonly (readonly (readonly IndexedWord[])[])[];

/** A session's consecutive events. */
export interface Stretch {
  sessionId: string;
  first: number;
  last: number;
}

/** Words consist of letters, digits and marks: neither engine's language has a sign among them. */
function expressionOf(db: Db, wanted: WordsWanted): string {
  const [quote, open, and, or] = isPostgres(db) ? ["'", ':*', ' & ', ' | '] : ['"', ' *', ' AND ', ' OR '];
  const written = (all: readonly IndexedWord[]) =>
    all.map((one) => `${quote}${one.word}${quote}${one.open ? open : ''}`).join(and);
  return wanted.map((alternatives) => `(${alternatives.map((all) => `(${written(all)})`).join(or)})`).join(and);
}

/** Whether a chunk has them. On SQLite the plus keeps rows from being fetched by their numbers, one page after the other. */
const haveWords = (db: Db, wanted: WordsWanted, plus = '') =>
  isPostgres(db)
    ? sql<boolean>`words @@ ${expressionOf(db, wanted)}::tsquery`
    : sql<boolean>`${sql.raw(plus)}chunk_id in (select rowid from chunk_words where chunk_words match ${expressionOf(db, wanted)})`;

/** The ids of the organization's sessions that have a chunk with the words, as a query. */
export const sessionsWithWords = (
  db: Db,
  organizationId: string,
  wanted: WordsWanted,
): RawBuilder<{ session_id: string }> =>
  isPostgres(db)
    ? // Not to be taken apart: the index of the words finds them all at once.
      sql`select session_id from session_chunks where organization_id = ${organizationId} and ${haveWords(db, wanted)} offset 0`
    : sql`select session_id from session_chunks indexed by session_chunks_by_id
        where ${haveWords(db, wanted)} and organization_id = ${organizationId}`;

/** What is off for a search: see `byIndex`. */
const OFF = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'].map(
  (name) => sql`set_config(${name}, 'off', true)`,
);

/**
 * What `work` asks finds words by their index, and sessions one by one: PostgreSQL does not know what it costs to unpack
 * the words of every chunk, and would rather read them all where many have one; nor how few sessions a page looks at.
 */
export const byIndex = <Result>(db: Db, work: (db: Db) => Promise<Result>): Promise<Result> =>
  isPostgres(db)
    ? db.transaction().execute(async (transaction) => {
        await sql`select ${sql.join(OFF)}`.execute(transaction);
        return work(transaction);
      })
    : work(db);

/** Those of the sessions' chunks that have the words, in order. */
export async function findChunks(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
  wanted: WordsWanted,
  from = 1,
): Promise<Stretch[]> {
  if (sessionIds.length === 0) return [];
  return db
    .selectFrom('session_chunks')
    .select(['session_id as sessionId', 'first_sequence as first', 'last_sequence as last'])
    .where('organization_id', '=', organizationId)
    .where('session_id', 'in', [...sessionIds])
    .where('last_sequence', '>=', from)
    .where(haveWords(db, wanted, '+'))
    .orderBy('session_id')
    .orderBy('first_sequence')
    .execute();
}

/** The last event of a session whose words are known; 0 where none is. */
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
