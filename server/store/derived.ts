import { type CompiledQuery, type Insertable, sql } from 'kysely';
import { replaceAddOns, type SessionAddOn } from './add-ons.ts';
import { runAtOnce } from './at-once.ts';
import { forShare } from './dialect.ts';
import { isPostgres } from './postgres.ts';
import type { Db, SessionFactsRow, SessionRow, SessionValueRow } from './schema.ts';
import { replaceSessionDays, type SessionDay } from './session-days.ts';

/** The columns that lists show and sort by. */
export type Columns = Omit<
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
  /** Separated by spaces; compressed for SQLite, which keeps them beside its index. */
  words: string | Uint8Array;
  /** The words that are new to the index, separated by spaces. */
  added: string;
}

/** Of the rows of a session whose words have expired: no version of the rules replaces them. */
export const VERSION_OF_KEPT = 2_147_483_647;

/** How far a session is derived. */
export type Derived = Pick<
  SessionFactsRow,
  'version' | 'derived_through' | 'next_chunk' | 'is_rewritten' | 'is_final' | 'facts' | 'masks'
>;

const DERIVED = ['version', 'derived_through', 'next_chunk', 'is_rewritten', 'is_final', 'facts', 'masks'] as const;

type Target = Pick<SessionRow, 'session_id' | 'organization_id'>;

export const NOTHING: Columns = {
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
 * Claims the session for this process until `until`, so that no other replica derives it too. Inserts its row if there is
 * none. Until the release it counts as unfinished, so that it is found again after a failure.
 * @returns undefined if another process has it, the session was deleted, or its words have expired
 */
export async function claimSession(db: Db, row: SessionRow, now: number, until: number): Promise<Derived | undefined> {
  const { session_id, organization_id, plane, started_at } = row;
  // No other process has an embedded store, so there a session that may get events needs no claim, and no fsync for it.
  const open = isPostgres(db) ? undefined : await findOpen(db, row);
  if (open) return open;
  const taken = await db
    .updateTable('session_facts')
    .set({ claimed_until: until, is_final: 0 })
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id)
    .where('claimed_until', '<=', now)
    .where('version', '<', VERSION_OF_KEPT)
    .returning(DERIVED)
    .executeTakeFirst();
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
  // A concurrent deletion waits for this lock, and then finds the row.
  const alive = sql`select masks from sessions where session_id = ${session_id} and organization_id = ${organization_id}
    and deleted_at is null and content_expired_at is null ${forShare(db)}`;
  const names = Object.keys(fresh) as (keyof typeof fresh)[];
  const { rows } = await sql<Derived>`
    insert into session_facts (masks, ${sql.join(names.map((name) => sql.ref(name)))})
    select alive.masks, ${sql.join(names.map((name) => sql`cast(${fresh[name]} as ${sql.raw(typeOf(name))})`))} from (${alive}) as alive
    where true on conflict (session_id) do nothing returning ${sql.join(DERIVED.map((name) => sql.ref(name)))}
  `.execute(db);
  return rows[0];
}

const findOpen = (db: Db, { session_id, organization_id }: Target): Promise<Derived | undefined> =>
  db
    .selectFrom('session_facts')
    .select(DERIVED)
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id)
    .where('is_final', '=', 0)
    .executeTakeFirst();

const TEXTS = new Set(['session_id', 'organization_id', 'plane', 'facts', 'summary']);
const typeOf = (name: string) => (TEXTS.has(name) ? 'text' : name === 'cost' ? 'double precision' : 'bigint');

/** Releases the claim on a session, and stores whether it may get more events. */
export const releaseSession = (
  db: Db,
  { session_id, organization_id }: Target,
  { masks, version }: Pick<Derived, 'masks' | 'version'>,
  isFinal: boolean,
) =>
  db
    .updateTable('session_facts')
    .set({ claimed_until: 0, is_final: isFinal ? 1 : 0 })
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id)
    .where('masks', '=', masks)
    // Those of a session whose words have expired meanwhile are final.
    .where('version', '=', version)
    .execute();

export interface NewSlice {
  row: SessionRow;
  before: Derived;
  after: Derived & { claimed_until: number };
  columns: Columns;
  chunks: readonly DerivedChunk[];
  /** Absent where they are as before. */
  days: readonly SessionDay[] | undefined;
  addOns: readonly SessionAddOn[] | undefined;
  values: Record<'added' | 'removed', readonly Pick<SessionValueRow, 'field' | 'name' | 'value'>[]>;
  /** Whether it replaces all that an earlier version derived. */
  isAnew: boolean;
}

/**
 * Writes a slice of a session, in one transaction.
 * @returns false, without writing, if the session is gone or another process was faster
 */
export function writeSlice(db: Db, slice: NewSlice): Promise<boolean> {
  const { row, before, after, columns, chunks, values, days, addOns, isAnew } = slice;
  const { session_id, organization_id } = row;
  const facts = db
    .updateTable('session_facts')
    .set({ ...after, ...columns })
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id)
    .where('version', '=', before.version)
    .where('derived_through', '=', before.derived_through)
    // What was read before something was masked is not written.
    .where('masks', '=', before.masks);
  return runAtOnce(db, [
    facts.compile(),
    ...writeChunks(db, row, chunks),
    ...(isAnew ? [removeValues(db, row)] : []),
    ...writeValues(db, row, values),
    ...(addOns || isAnew ? replaceAddOns(db, row, addOns ?? []) : []),
    ...(days || isAnew ? replaceSessionDays(db, row, days ?? []) : []),
  ]);
}

function writeChunks(db: Db, row: Target, chunks: readonly DerivedChunk[]): CompiledQuery[] {
  if (chunks.length === 0) return [];
  const { session_id, organization_id } = row;
  const written = db
    .insertInto('session_chunks')
    .values(
      chunks.map(({ first, last, entries, words }) => ({
        session_id,
        organization_id,
        first_sequence: first,
        last_sequence: last,
        entries,
        words: words instanceof Uint8Array ? words : sql<string>`array_to_tsvector(string_to_array(${words}, ' '))`,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'first_sequence']).doUpdateSet((chunk) => ({
        last_sequence: chunk.ref('excluded.last_sequence'),
        entries: chunk.ref('excluded.entries'),
        words: chunk.ref('excluded.words'),
      })),
    );
  const added = isPostgres(db) ? [] : chunks.filter((chunk) => chunk.added !== '');
  // Inserting a row again adds words to it: the index only maps words to rows.
  const indexed = added.map(
    ({ first, added: words }) => sql`
      insert into chunk_words (rowid, words) select chunk_id, ${words} from session_chunks
      where session_id = ${session_id} and first_sequence = ${first} and organization_id = ${organization_id}`,
  );
  return [written.compile(), ...indexed.map((statement) => statement.compile(db))];
}

/** Removes the values that find the session. */
export const removeValues = (db: Db, { session_id, organization_id }: Target): CompiledQuery =>
  db
    .deleteFrom('session_values')
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id)
    .compile();

const VALUES_AT_ONCE = 500;

export function writeValues(db: Db, row: Target, { added, removed }: NewSlice['values']): CompiledQuery[] {
  const { session_id, organization_id } = row;
  const statements: CompiledQuery[] = [];
  for (let from = 0; from < removed.length; from += VALUES_AT_ONCE) {
    const gone = removed.slice(from, from + VALUES_AT_ONCE).map(({ field, value }) => sql`(${field}, ${value})`);
    statements.push(
      db
        .deleteFrom('session_values')
        .where('session_id', '=', session_id)
        .where('organization_id', '=', organization_id)
        .where(sql<boolean>`(field, value) in (values ${sql.join(gone)})`)
        .compile(),
    );
  }
  for (let from = 0; from < added.length; from += VALUES_AT_ONCE) {
    statements.push(
      db
        .insertInto('session_values')
        .values(added.slice(from, from + VALUES_AT_ONCE).map((value) => ({ session_id, organization_id, ...value })))
        .onConflict((conflict) => conflict.doNothing())
        .compile(),
    );
  }
  return statements;
}

/** The words of the chunks from `from` on; only the index of SQLite needs them, to add and remove words. */
export async function readWords(
  db: Db,
  organizationId: string,
  sessionId: string,
  from: number,
): Promise<{ first: number; words: Uint8Array }[]> {
  if (isPostgres(db)) return [];
  const rows = await db
    .selectFrom('session_chunks')
    .select(['first_sequence as first', 'words'])
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .where('first_sequence', '>=', from)
    .orderBy('first_sequence')
    .execute();
  return rows.flatMap(({ first, words }) => (words instanceof Uint8Array ? [{ first, words }] : []));
}

/** Chunks fetched at once: about half a megabyte. */
const CHUNKS_AT_ONCE = 100;

/** The entries of chunks that hold sequences `from` to `to`, compressed, in order. */
export async function* readChunks(db: Db, organizationId: string, sessionId: string, from: number, to: number) {
  for (let next = from; next <= to; ) {
    const chunks = await db
      .selectFrom('session_chunks')
      .select(['first_sequence', 'last_sequence', 'entries'])
      .where('organization_id', '=', organizationId)
      .where('session_id', '=', sessionId)
      .where('last_sequence', '>=', next)
      .where('first_sequence', '<=', to)
      .orderBy('first_sequence')
      .limit(CHUNKS_AT_ONCE)
      .execute();
    yield* chunks;
    if (chunks.length < CHUNKS_AT_ONCE) return;
    next = (chunks.at(-1)?.last_sequence ?? to) + 1;
  }
}
