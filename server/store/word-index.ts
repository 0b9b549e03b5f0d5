import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { INDEX_ROW } from './derived.ts';
import { fromJsonArray, isOneOf, jsonArray, ofEngine } from './dialect.ts';
import { isPostgres } from './postgres.ts';
import { allRows, firstRow, NONE, type Sql } from './rows.ts';
import type { Db, SessionRow } from './schema.ts';
import { bitOf } from './signature.ts';
import { asService } from './tenant.ts';
import type { Viewer } from './viewer.ts';

export interface IndexedWord {
  word: string;
  /** Whether it is only the beginning of a word. */
  open: boolean;
  /** The word directly before it. Only signatures know which words follow each other. */
  after?: string;
}

/** The words that a chunk must contain: for each entry, all words of at least one alternative. */
export type WordsWanted = readonly (readonly (readonly IndexedWord[])[])[];

/** Consecutive events of a session. */
export interface EventRange {
  sessionId: string;
  first: number;
  last: number;
}

/** The syntax of conditions for FTS5 and `tsquery`. */
const SYNTAX = {
  sqlite: { quote: '"', open: ' *', and: ' AND ', or: ' OR ' },
  postgres: { quote: "'", open: ':*', and: ' & ', or: ' | ' },
};

/** The condition in the syntax of the engine. Words contain only letters, digits and marks, so nothing needs escaping. */
function expressionOf(db: Db, prefixes: readonly string[], wanted: WordsWanted): string {
  const { quote, open, and, or } = ofEngine(db, SYNTAX);
  const written = (prefix: string, all: readonly IndexedWord[]) =>
    all.map((one) => `${quote}${prefix}${one.word}${quote}${one.open ? open : ''}`).join(and);
  const known = wanted
    .map((any) => any.map((all) => all.filter(({ after }) => after === undefined)))
    .filter((any) => any.every((all) => all.length > 0));
  const under = (prefix: string) =>
    known.map((any) => `(${any.map((all) => `(${written(prefix, all)})`).join(or)})`).join(and);
  return prefixes.map((prefix) => `(${under(prefix)})`).join(or);
}

/** Where a search looks for words. */
export interface Searched {
  organizationId: string;
  /** `prefixesOf` a viewer, or `wordPrefix` of a session. */
  prefixes: readonly string[];
}

/** The condition that a row of the index has the words. */
function hasWords(db: Db, { prefixes }: Searched, wanted: WordsWanted): Sql {
  const expression = expressionOf(db, prefixes, wanted);
  return isPostgres(db)
    ? sql`words @@ ${expression}::tsquery`
    : sql`chunk_id in (select rowid from chunk_words where chunk_words match ${expression})`;
}

/**
 * The condition that a chunk belongs to such a row. The plus prevents SQLite from fetching the rows one by one by their row ids. PostgreSQL gets an array,
 * in which it looks up each chunk by a hash. It would compare each chunk with each row of a query.
 */
function isOfRowWith(db: Db, searched: Searched, wanted: WordsWanted): Sql {
  if (!isPostgres(db)) {
    const expression = expressionOf(db, searched.prefixes, wanted);
    return sql`+${INDEX_ROW} in (select rowid from chunk_words where chunk_words match ${expression})`;
  }
  return sql`${INDEX_ROW} = any (array(
    select chunk_id from session_chunks
    where organization_id = ${searched.organizationId} and ${hasWords(db, searched, wanted)}))`;
}

/** The chunks whose signatures have the words. A signature knows no beginnings of words. */
function mayHave(db: Db, wanted: WordsWanted): RawBuilder<unknown> {
  const hasAll = (words: readonly IndexedWord[]) => {
    const bits = words.filter(({ open }) => !open).map(({ word, after }) => hasBit(db, bitOf(word, after)));
    return bits.length === 0 ? undefined : sql`(${sql.join(bits, sql` and `)})`;
  };
  const conditions = wanted.flatMap((any) => {
    const alternatives = any.map(hasAll);
    const known = alternatives.filter((one) => one !== undefined);
    return known.length < alternatives.length ? [] : [sql`and (${sql.join(known, sql` or `)})`];
  });
  return conditions.length === 0 ? NONE : sql.join(conditions, sql` `);
}

/** SQLite has no function for a bit, but it finds a byte among all bytes with the bit. */
const hasBit = (db: Db, bit: number): Sql =>
  isPostgres(db)
    ? sql`get_bit(signature, ${bit}) = 1`
    : sql`instr(${BYTES_WITH_BIT[bit & 7]}, substr(signature, ${(bit >>> 3) + 1}, 1)) > 0`;

const BYTES_WITH_BIT = Array.from({ length: 8 }, (_, bit) =>
  Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => (byte >>> bit) & 1),
);

/** The plans that PostgreSQL must not use for a search; see `byIndex`. */
const OFF = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'].map(
  (name) => sql`set_config(${name}, 'off', true)`,
);

/**
 * Makes PostgreSQL use the word index. PostgreSQL does not know that unpacking the words of a chunk is expensive and that a page
 * reads few sessions, so it would read every chunk for a common word. Under row-level security it would never use the index,
 * because `@@` is not leakproof. Therefore the work runs as the service, and every query must name its organization.
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

/** Finds the ids of sessions with an index row that contains the words; undefined if more than `most` rows contain them. */
export async function findByWords(
  db: Db,
  searched: Searched,
  wanted: WordsWanted,
  most: number,
): Promise<string[] | undefined> {
  const { organizationId } = searched;
  const some = sql`
    select session_id from session_chunks ${isPostgres(db) ? NONE : sql`indexed by session_chunks_by_id`}
    where ${hasWords(db, searched, wanted)} and organization_id = ${organizationId} limit ${most + 1}`;
  // Returns one row, because a common word would otherwise return thousands of unused rows.
  const { rows } = await sql<{ count: number; ids: string[] | string | null }>`
    select count(*) as count, case when count(*) <= ${most} then ${jsonArray(db)}(distinct session_id) end as ids
    from (${some}) as found`.execute(db);
  const { count, ids } = rows[0] ?? { count: 0, ids: null };
  if (count > most) return undefined;
  return fromJsonArray(ids ?? []);
}

/**
 * Finds the chunks of the sessions, from a sequence on, whose index rows contain wanted words and whose signatures may have them; in order, one
 * row for each `place`.
 */
export async function findChunks(
  db: Db,
  searched: Searched,
  sessionIds: readonly string[],
  asked: readonly { place: number; words: WordsWanted }[],
  from = 1,
): Promise<(EventRange & { place: number })[]> {
  if (sessionIds.length === 0 || asked.length === 0) return [];
  const { organizationId } = searched;
  const arms = asked.map(
    ({ place, words }) => sql`
      select session_id as "sessionId", first_sequence as "first", last_sequence as "last",
        cast(${place} as integer) as place
      from session_chunks
      where ${isOneOf(db, 'session_id', sessionIds)} and organization_id = ${organizationId} and last_sequence >= ${from}
        and ${isOfRowWith(db, searched, words)} ${mayHave(db, words)}`,
  );
  const { rows } = await sql<EventRange & { place: number }>`
    ${sql.join(arms, sql` union all `)} order by 1, 2`.execute(db);
  return rows;
}

/** The last indexed event of a session; 0 if there is none, or if its words have to move to another prefix. */
export async function lastIndexed(db: Db, organizationId: string, sessionId: string): Promise<number> {
  const row = await firstRow(
    db,
    sql<{ last_sequence: number }>`
      select last_sequence from session_chunks where organization_id = ${organizationId} and session_id = ${sessionId}
        and not exists (select 1 from session_facts where session_id = ${sessionId} and version < 0)
      order by first_sequence desc limit 1`,
  );
  return row?.last_sequence ?? 0;
}

/**
 * The prefix of a session's words in the index. Sessions for the team share one in each organization, and so do the hidden ones of each
 * person. A query thus never reads the words of sessions that its viewer may not read, which its time would tell. Two groups of
 * sessions may have the same prefix, so every query names its organization and checks what the viewer may read, too.
 */
export const wordPrefix = ({ organization_id, visibility, user_id }: Grouped): string =>
  visibility === 'team' ? prefixOf(organization_id) : prefixOf(organization_id, user_id ?? NOBODY);

type Grouped = Pick<SessionRow, 'organization_id' | 'visibility' | 'user_id'>;

/** The prefixes of the sessions that the viewer may read. */
export async function prefixesOf(db: Db, { organizationId, userId, seesAll }: Viewer): Promise<string[]> {
  const own = userId === undefined ? [] : [userId];
  const people = seesAll ? [NOBODY, ...(await findPeople(db, organizationId))] : own;
  return [prefixOf(organizationId), ...people.map((person) => prefixOf(organizationId, person))];
}

/** In place of the person of sessions that have none. */
const NOBODY = '';

/** Everyone who has a session. Each step jumps to the next person in the index. */
async function findPeople(db: Db, organizationId: string): Promise<string[]> {
  const next = (after: RawBuilder<unknown>) => sql`
    (select min(user_id) from sessions where organization_id = ${organizationId} and user_id > ${after})`;
  const rows = await allRows(
    db,
    sql<{ person: string }>`
      with recursive people (person) as (
        select ${next(sql`''`)}
        union all
        select ${next(sql`people.person`)} from people where people.person is not null
      )
      select person from people where person is not null`,
  );
  return rows.map(({ person }) => person);
}

function prefixOf(organizationId: string, person?: string): string {
  const group = person === undefined ? organizationId : `${organizationId} ${person}`;
  const bits = createHash('sha256').update(group).digest().readUInt32BE();
  return bits.toString(36).padStart(LENGTH, '0').slice(-LENGTH);
}

/** How many letters and digits a prefix has. Two groups share a prefix with a probability of 1 in 1.7 million. */
const LENGTH = 4;
