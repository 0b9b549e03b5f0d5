import { type Insertable, sql } from 'kysely';
import { forShare } from './dialect.ts';
import { isPostgres } from './postgres.ts';
import { allRows, firstRow, NONE, runAtOnce, type Sql } from './rows.ts';
import type { Db, SessionChunkRow, SessionFactsRow, SessionRow } from './schema.ts';
import {
  ofSession,
  removeValues,
  replaceAddOns,
  replaceSessionDays,
  type SessionAddOn,
  type SessionDay,
  type SessionValue,
  VERSION_OF_KEPT,
  writeValues,
} from './session-rows.ts';

/** The columns that lists show and sort by. */
export type ListColumns = Omit<
  SessionFactsRow,
  | 'session_id'
  | 'organization_id'
  | 'plane'
  | 'started_at'
  | 'version'
  | 'derived_through'
  | 'next_chunk'
  | 'claimed_until'
  | 'masks'
  | 'is_rewritten'
  | 'is_final'
  | 'facts'
>;

export interface DerivedChunk {
  first: number;
  last: number;
  /** Compressed JSON. */
  entries: Uint8Array;
  /** Separated by spaces; compressed for SQLite, which stores them in addition to its index. */
  words: string | Uint8Array;
  /** The words that are new to the index, separated by spaces. */
  added: string;
  /** Whether the index has words of it already: the chunk is stored and goes on. */
  goesOn: boolean;
}

const DERIVED = ['version', 'derived_through', 'next_chunk', 'is_rewritten', 'is_final', 'facts', 'masks'] as const;

/** How far a session is derived. */
export type Derived = Pick<SessionFactsRow, (typeof DERIVED)[number]>;

const DERIVED_COLUMNS = sql.join(DERIVED.map((name) => sql.ref(name)));

type Target = Pick<SessionRow, 'session_id' | 'organization_id'>;

export const NOTHING: ListColumns = {
  event_count: 0,
  prompts: 0,
  tool_calls: 0,
  failures: 0,
  redactions: 0,
  files_changed: 0,
  lines_added: 0,
  lines_removed: 0,
  lines_changed: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  tokens: 0,
  duration_ms: 0,
  first_event_at: null,
  last_event_at: null,
  lag_ms: null,
  interrupted: 0,
  cost: null,
  summary: '{}',
};

/**
 * Claims the session for this process until `until`, so that no other replica derives it. Inserts its row if there is none.
 * Until the release it counts as unfinished, so that it is found again after a failure.
 * @returns undefined if another process has it, the session was deleted, or its content has expired
 */
export async function claimSession(db: Db, row: SessionRow, now: number, until: number): Promise<Derived | undefined> {
  const { session_id, organization_id, plane, started_at } = row;
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
  const fresh: Omit<Insertable<SessionFactsRow>, 'masks'> = {
    ...NOTHING,
    session_id,
    organization_id,
    plane,
    started_at,
    version: 0,
    derived_through: 0,
    next_chunk: 1,
    claimed_until: until,
    is_rewritten: 0,
    is_final: 0,
    facts: '',
  };
  const names = Object.keys(fresh) as (keyof typeof fresh)[];
  // A concurrent deletion waits for the lock of the session, and then finds this row.
  return firstRow(
    db,
    sql<Derived>`
      insert into session_facts (masks, ${sql.join(names.map((name) => sql.ref(name)))})
      select alive.masks, ${sql.join(names.map((name) => sql`cast(${fresh[name]} as ${sql.raw(typeOf(name))})`))}
      from (
        select masks from sessions
        where ${ofSession(row)} and deleted_at is null and content_expired_at is null ${forShare(db)}
      ) as alive
      where true on conflict (session_id) do nothing returning ${DERIVED_COLUMNS}`,
  );
}

const findOpen = (db: Db, session: Target): Promise<Derived | undefined> =>
  firstRow(db, sql<Derived>`select ${DERIVED_COLUMNS} from session_facts where ${ofSession(session)} and is_final = 0`);

const TEXTS = new Set(['session_id', 'organization_id', 'plane', 'facts', 'summary']);
const typeOf = (name: string) => (TEXTS.has(name) ? 'text' : name === 'cost' ? 'double precision' : 'bigint');

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
  addOns: readonly SessionAddOn[] | undefined;
  values: Record<'added' | 'removed', readonly SessionValue[]>;
  /** Whether it replaces all rows of an earlier version. */
  isAnew: boolean;
}

/**
 * Writes a slice of a session, in one transaction.
 * @returns false, without writing, if the session is gone, another process was faster, or its last chunk was removed
 */
export function writeSlice(db: Db, slice: NewSlice): Promise<boolean> {
  const { row, before, after, columns, chunks, values, days, addOns, isAnew } = slice;
  const changes = Object.entries({ ...after, ...columns }).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  // Refuses rows that were derived from events before these were masked.
  const facts = sql`
    update session_facts set ${sql.join(changes)}
    where ${ofSession(row)} and version = ${before.version} and derived_through = ${before.derived_through}
      and masks = ${before.masks} ${isStored(db, row, chunks)}`;
  return runAtOnce(db, [
    facts,
    ...writeChunks(db, row, chunks),
    ...(isAnew ? [removeValues(row)] : []),
    ...writeValues(row, values),
    ...(addOns || isAnew ? replaceAddOns(row, addOns ?? []) : []),
    ...(days || isAnew ? replaceSessionDays(db, row, days ?? []) : []),
  ]);
}

/**
 * Whether the chunk that goes on is still stored. The end of a mask removes chunks before the facts, and only the remaining words would
 * be added to the index of SQLite. Removing a chunk from the index with words that the index does not have damages the index.
 */
function isStored(db: Db, row: Target, chunks: readonly DerivedChunk[]): Sql {
  const open = isPostgres(db) ? undefined : chunks.find(({ goesOn }) => goesOn);
  if (!open) return NONE;
  return sql`and exists (select 1 from session_chunks where ${ofSession(row)} and first_sequence = ${open.first})`;
}

function writeChunks(db: Db, row: Target, chunks: readonly DerivedChunk[]): Sql[] {
  if (chunks.length === 0) return [];
  const { session_id, organization_id } = row;
  const rows = chunks.map(({ first, last, entries, words }) => {
    const indexed = words instanceof Uint8Array ? words : sql`array_to_tsvector(string_to_array(${words}, ' '))`;
    return sql`(${session_id}, ${organization_id}, ${first}, ${last}, ${entries}, ${indexed})`;
  });
  const written = sql`
    insert into session_chunks (session_id, organization_id, first_sequence, last_sequence, entries, words)
    values ${sql.join(rows)}
    on conflict (session_id, first_sequence) do update set last_sequence = excluded.last_sequence,
      entries = excluded.entries, words = excluded.words`;
  const added = isPostgres(db) ? [] : chunks.filter((chunk) => chunk.added !== '');
  // Inserting a row again adds words to it: the index only maps words to rows.
  const indexed = added.map(
    ({ first, added: words }) => sql`
      insert into chunk_words (rowid, words) select chunk_id, ${words} from session_chunks
      where session_id = ${session_id} and first_sequence = ${first} and organization_id = ${organization_id}`,
  );
  return [written, ...indexed];
}

/** Reads the words of the chunks from `from` on. Only the index of SQLite needs them, to add and remove words. */
export async function readWords(
  db: Db,
  organizationId: string,
  sessionId: string,
  from: number,
): Promise<{ first: number; words: Uint8Array }[]> {
  if (isPostgres(db)) return [];
  const rows = await allRows(
    db,
    sql<{ first: number; words: Uint8Array | string }>`
      select first_sequence as first, words from session_chunks
      where organization_id = ${organizationId} and session_id = ${sessionId} and first_sequence >= ${from}
      order by first_sequence`,
  );
  return rows.flatMap(({ first, words }) => (words instanceof Uint8Array ? [{ first, words }] : []));
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
