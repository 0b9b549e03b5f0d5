import { sql } from 'kysely';
import { forShare } from './dialect.ts';
import { isPostgres } from './postgres.ts';
import { allRows, firstRow, NONE, runAtOnce, type Sql } from './rows.ts';
import type { Db, SessionChunkRow, SessionFactsRow, SessionRow } from './schema.ts';
import {
  ofSession,
  removeValues,
  replaceSessionDays,
  type SessionDay,
  type SessionValue,
  VERSION_OF_KEPT,
  writeValues,
} from './session-rows.ts';

export interface DerivedChunk {
  first: number;
  last: number;
  /** The first event of the index row that has its words. */
  rowFirst: number;
  /** Which words it may have; see `store/signature.ts`. */
  signature: Uint8Array;
  /** Compressed JSON. */
  entries: Uint8Array;
  /** The words that it brought to its row, compressed and separated by spaces, for SQLite, whose index cannot remove them otherwise. */
  words: Uint8Array | null;
  /** The words that are new to the row, separated by spaces. */
  added: string;
  /** Whether the row has words of it already: the chunk is stored and goes on. */
  goesOn: boolean;
}

/** The words of a chunk, or of a whole row; see `readWords`. */
export interface StoredWords {
  first: number;
  words: Uint8Array | string;
}

const DERIVED = ['version', 'derived_through', 'next_chunk', 'is_rewritten', 'is_final', 'facts', 'masks'] as const;

/** How far a session is derived. */
export type Derived = Pick<SessionFactsRow, (typeof DERIVED)[number]>;

/** The columns that lists show and sort by. */
export type ListColumns = Omit<
  SessionFactsRow,
  keyof Derived | 'session_id' | 'organization_id' | 'plane' | 'started_at' | 'claimed_until'
>;

const DERIVED_COLUMNS = sql.join(DERIVED.map((name) => sql.ref(name)));

type Target = Pick<SessionRow, 'session_id' | 'organization_id'>;

/**
 * Claims the session for this process until `until`, so that no other replica derives it. Inserts its row if there is none.
 * Until the release it counts as unfinished, so that it is found again after a failure.
 * @returns undefined if another process has it, the session was deleted, or its content has expired
 */
export async function claimSession(db: Db, row: SessionRow, now: number, until: number): Promise<Derived | undefined> {
  // An embedded store has no other process, so an open session needs no claim, which saves an fsync.
  const open = isPostgres(db) ? undefined : await findOpen(db, row);
  if (open) return open;
  const taken = await firstRow(
    db,
    sql<Derived>`
      update session_facts set claimed_until = ${until}, is_final = 0
      where ${ofSession(row)} and claimed_until <= ${now} and version < ${VERSION_OF_KEPT}
      returning ${DERIVED_COLUMNS}`,
  );
  if (taken) return taken;
  // A concurrent deletion waits for the lock of the session, and then finds this row.
  return firstRow(
    db,
    sql<Derived>`
      insert into session_facts (session_id, organization_id, plane, started_at, masks, claimed_until)
      select alive.*, cast(${until} as bigint)
      from (
        select session_id, organization_id, plane, started_at, masks from sessions
        where ${ofSession(row)} and deleted_at is null and content_expired_at is null ${forShare(db)}
      ) as alive
      where true on conflict (session_id) do nothing returning ${DERIVED_COLUMNS}`,
  );
}

const findOpen = (db: Db, session: Target): Promise<Derived | undefined> =>
  firstRow(db, sql<Derived>`select ${DERIVED_COLUMNS} from session_facts where ${ofSession(session)} and is_final = 0`);

/** Releases the claim on a session, and stores whether it may receive more events. */
export const releaseSession = (
  db: Db,
  session: Target,
  { masks, version }: Pick<Derived, 'masks' | 'version'>,
  isFinal: boolean,
) =>
  // If the content of the session has expired meanwhile, its version differs, and its facts stay final.
  sql`
    update session_facts set claimed_until = 0, is_final = ${Number(isFinal)}
    where ${ofSession(session)} and masks = ${masks} and version = ${version}`.execute(db);

export interface NewSlice {
  row: SessionRow;
  before: Derived;
  after: Derived & { claimed_until: number };
  columns: ListColumns;
  chunks: readonly DerivedChunk[];
  /** Undefined if they are unchanged. */
  days: readonly SessionDay[] | undefined;
  values: Record<'added' | 'removed', readonly SessionValue[]>;
  /** Whether it replaces all rows of an earlier version. */
  isAnew: boolean;
}

/**
 * Writes a slice of a session, in one transaction.
 * @returns false, without writing, if the session is gone, another process was faster, or its last chunk was removed
 */
export function writeSlice(db: Db, slice: NewSlice): Promise<boolean> {
  const { row, before, after, columns, chunks, values, days, isAnew } = slice;
  const changes = Object.entries({ ...after, ...columns }).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  // Refuses rows that were derived from events before these were masked.
  const facts = sql`
    update session_facts set ${sql.join(changes)}
    where ${ofSession(row)} and version = ${before.version} and derived_through = ${before.derived_through}
      and masks = ${before.masks} ${isStored(row, chunks)}`;
  return runAtOnce(db, [
    facts,
    ...writeChunks(db, row, chunks),
    ...(isAnew ? [removeValues(row)] : []),
    ...writeValues(row, values),
    ...(days || isAnew ? replaceSessionDays(db, row, days ?? []) : []),
  ]);
}

/**
 * Whether the chunk that goes on, and the first chunk of its row, are still stored. The end of a mask removes chunks before the facts, and only
 * the remaining words would be added to the index. Removing a chunk from the index with words that the index does not have damages
 * the index.
 */
function isStored(row: Target, [begun]: readonly DerivedChunk[]): Sql {
  if (!begun) return NONE;
  const needed = [
    ...(begun.goesOn ? [begun.first] : []),
    ...(begun.rowFirst < begun.first || begun.goesOn ? [begun.rowFirst] : []),
  ];
  const firsts = [...new Set(needed)];
  if (firsts.length === 0) return NONE;
  return sql`and ${firsts.length} = (
    select count(*) from session_chunks where ${ofSession(row)} and first_sequence in (${sql.join(firsts)}))`;
}

function writeChunks(db: Db, row: Target, chunks: readonly DerivedChunk[]): Sql[] {
  return chunks.flatMap((chunk) => (isPostgres(db) ? writeWithWords(row, chunk) : writeBesideWords(row, chunk)));
}

/** On SQLite, which adds words to a row of its index when the row is inserted again. */
function writeBesideWords(row: Target, chunk: DerivedChunk): Sql[] {
  const written = writeChunk(row, chunk, chunk.words, sql`excluded.words`);
  if (chunk.added === '') return [written];
  const indexed = sql`
    insert into chunk_words (rowid, words) select ${INDEX_ROW}, ${chunk.added} from session_chunks
    where ${ofSession(row)} and first_sequence = ${chunk.first}`;
  return [written, indexed];
}

/** On PostgreSQL, where the first chunk of a row has its words. */
function writeWithWords(row: Target, chunk: DerivedChunk): Sql[] {
  const { first, rowFirst, added } = chunk;
  const words = added === '' ? sql`null` : sql`array_to_tsvector(string_to_array(${added}, ' '))`;
  const joined = sql`coalesce(session_chunks.words || excluded.words, excluded.words, session_chunks.words)`;
  if (first === rowFirst) return [writeChunk(row, chunk, words, joined)];
  const written = writeChunk(row, chunk, sql`null`, sql`session_chunks.words`);
  if (added === '') return [written];
  const indexed = sql`
    update session_chunks set words = coalesce(words || ${words}, ${words})
    where ${ofSession(row)} and first_sequence = ${rowFirst}`;
  return [written, indexed];
}

function writeChunk(row: Target, chunk: DerivedChunk, words: unknown, laterWords: Sql): Sql {
  const { session_id, organization_id } = row;
  const { first, last, rowFirst, signature, entries } = chunk;
  const indexRow =
    rowFirst === first
      ? sql`null`
      : sql`(select ${INDEX_ROW} from session_chunks where ${ofSession(row)} and first_sequence = ${rowFirst})`;
  return sql`
    insert into session_chunks
      (session_id, organization_id, first_sequence, last_sequence, index_row, signature, entries, words)
    values (${session_id}, ${organization_id}, ${first}, ${last}, ${indexRow}, ${signature}, ${entries}, ${words})
    on conflict (session_id, first_sequence) do update set last_sequence = excluded.last_sequence,
      signature = excluded.signature, entries = excluded.entries, words = ${laterWords}`;
}

/** The row of the index that has the words of a chunk: the id of the row's first chunk. */
export const INDEX_ROW = sql`coalesce(index_row, chunk_id)`;

/** Reads the words of the last index row: those that each chunk brought, or on PostgreSQL the words of the row. */
export async function readWords(db: Db, organizationId: string, sessionId: string): Promise<StoredWords[]> {
  const words = isPostgres(db) ? sql`array_to_string(tsvector_to_array(words), ' ')` : sql`words`;
  const rows = await allRows(
    db,
    sql<StoredWords>`
      select first_sequence as first, ${words} as words from session_chunks
      where organization_id = ${organizationId} and session_id = ${sessionId} and words is not null
        and ${INDEX_ROW} = (
          select ${INDEX_ROW} from session_chunks
          where organization_id = ${organizationId} and session_id = ${sessionId} order by first_sequence desc limit 1)
      order by first_sequence`,
  );
  return rows;
}

/** How many chunks are fetched at once: about half a megabyte. */
const CHUNKS_AT_ONCE = 100;

type ChunkEntries = Pick<SessionChunkRow, 'first_sequence' | 'last_sequence' | 'entries'>;

/** Reads the compressed entries of the chunks that contain the events `from` to `to`, in order. */
export async function* readChunks(
  db: Db,
  organizationId: string,
  sessionId: string,
  from: number,
  to: number,
): AsyncGenerator<ChunkEntries> {
  for (let next = from; next <= to; ) {
    const chunks = await allRows(
      db,
      sql<ChunkEntries>`
        select first_sequence, last_sequence, entries from session_chunks
        where organization_id = ${organizationId} and session_id = ${sessionId}
          and last_sequence >= ${next} and first_sequence <= ${to}
        order by first_sequence limit ${CHUNKS_AT_ONCE}`,
    );
    yield* chunks;
    if (chunks.length < CHUNKS_AT_ONCE) return;
    next = (chunks.at(-1)?.last_sequence ?? to) + 1;
  }
}
