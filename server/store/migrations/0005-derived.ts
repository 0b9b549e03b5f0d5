import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnTypes, Engine } from '../dialect.ts';

/** What is derived from the events of sessions: may be emptied at any time, and is made again. */
export const derived = (engine: Engine, types: ColumnTypes): Migration => ({
  async up(db) {
    await createFacts(db);
    // Most are completed in the end; who looks for others finds them here.
    await sql`create index sessions_by_status on sessions (organization_id, plane, status) where status <> 'completed'`.execute(
      db,
    );
    await createValues(db, engine);
    await createChunks(db, engine, types);
    await createFigures(db);
    await db.schema.dropTable('summaries').execute();
    for (const name of ['continues_key', 'forked_from_key']) {
      await db.schema
        .createIndex(`sessions_by_${name}`)
        .on('sessions')
        .columns(['organization_id', 'plane', name])
        .where(sql.ref(name), 'is not', null)
        .execute();
    }
  },
});

const COUNTS = [
  'event_count',
  'prompts',
  'tool_calls',
  'failures',
  'redactions',
  'files_changed',
  'lines_added',
  'lines_removed',
] as const;
const TOKENS = ['input_tokens', 'cached_tokens', 'output_tokens', 'duration_ms'] as const;

/** By each of these a list may be ordered. */
const ORDERED = ['started_at', 'duration_ms', 'event_count', 'failures', 'lines_changed', 'tokens', 'cost'] as const;

async function createFacts(db: Kysely<unknown>): Promise<void> {
  let table = db.schema
    .createTable('session_facts')
    .addColumn('session_id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('plane', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('derived_through', 'integer', (column) => column.notNull())
    .addColumn('next_chunk', 'integer', (column) => column.notNull())
    .addColumn('claimed_until', 'bigint', (column) => column.notNull().defaultTo(0));
  for (const name of COUNTS) table = table.addColumn(name, 'integer', (column) => column.notNull());
  for (const name of TOKENS) table = table.addColumn(name, 'bigint', (column) => column.notNull());
  await table
    .addColumn('lines_changed', 'integer', (column) => column.notNull())
    .addColumn('tokens', 'bigint', (column) => column.notNull())
    .addColumn('cost', 'double precision')
    .addColumn('first_event_at', 'bigint')
    .addColumn('last_event_at', 'bigint')
    .addColumn('lag_ms', 'bigint')
    .addColumn('interrupted', 'integer', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('facts', 'text', (column) => column.notNull())
    .execute();
  for (const name of ORDERED) {
    await db.schema
      .createIndex(`session_facts_by_${name}`)
      .on('session_facts')
      .columns(['organization_id', 'plane'])
      // What has no known price costs nothing: an order has no place for what is unknown.
      .expression(sql`${sql.raw(name === 'cost' ? 'coalesce(cost, 0)' : name)} desc, session_id desc`)
      .execute();
  }
  await db.schema
    .createIndex('session_facts_by_last_event')
    .on('session_facts')
    .columns(['organization_id', 'plane', 'last_event_at desc'])
    .execute();
  await sql`create index session_facts_interrupted on session_facts (organization_id, plane, started_at desc)
    where interrupted = 1`.execute(db);
}

/** What sessions are found by: `file:`, `tool:` and the like. `name` is what is looked up, in lower case. */
async function createValues(db: Kysely<unknown>, engine: Engine): Promise<void> {
  // Beginnings of names are looked up: only where their order is that of their bytes is that a range of the index.
  const ordered = engine === 'postgres' ? sql`text collate "C"` : 'text';
  await db.schema
    .createTable('session_values')
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('field', 'text', (column) => column.notNull())
    .addColumn('name', ordered, (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('session_values_pkey', ['session_id', 'field', 'value'])
    .execute();
  await db.schema
    .createIndex('session_values_by_name')
    .on('session_values')
    .columns(['organization_id', 'field', 'name', 'session_id'])
    .execute();
}

/** Consecutive events of a session: what the timeline shows of them, and the words in them. */
async function createChunks(db: Kysely<unknown>, engine: Engine, types: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('session_chunks')
    .addColumn('chunk_id', engine === 'postgres' ? 'bigint' : 'integer', (column) =>
      engine === 'postgres' ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey().autoIncrement(),
    )
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('organization_id', 'text', (column) => column.notNull())
    .addColumn('first_sequence', 'integer', (column) => column.notNull())
    .addColumn('last_sequence', 'integer', (column) => column.notNull())
    .addColumn('entries', types.bytes, (column) => column.notNull())
    .addUniqueConstraint('session_chunks_by_session', ['session_id', 'first_sequence'])
    .execute();
  if (engine === 'postgres') {
    await sql`alter table session_chunks add column words tsvector`.execute(db);
    await sql`create index session_chunks_by_words on session_chunks using gin (words)`.execute(db);
    return;
  }
  // The index keeps only which words are in which chunk. To take them out again, they are kept compressed beside it: a
  // table that forgets by itself would leave the words of a deleted session in its file. They come cut already: the
  // tokenizer cuts at blanks, and lets everything beyond ASCII pass.
  await sql`alter table session_chunks add column words blob`.execute(db);
  await sql`
    create virtual table chunk_words using fts5(
      words, content='', columnsize=0, detail=none, tokenize='ascii')
  `.execute(db);
  // From a chunk to its session without its row, which takes pages: 20,000 in 14 ms instead of 30.
  await sql`create index session_chunks_by_id on session_chunks (chunk_id, organization_id, session_id)`.execute(db);
  await sql`insert into chunk_words (chunk_words, rank) values ('secure-delete', 1)`.execute(db);
}

const KEY = ['organization_id', 'plane', 'dimension', 'day', 'value', 'model'] as const;
const FIGURES = ['sessions', 'prompts', 'tool_calls', 'failures'] as const;
const TOKEN_FIGURES = ['input_tokens', 'cached_tokens', 'cache_write_tokens', 'output_tokens'] as const;

/** Sums over sessions by day, so that an overview reads few rows however many sessions there are. */
const createFigures = (db: Kysely<unknown>): Promise<void> =>
  sql`
    create table figures (
      ${sql.join(KEY.map((name) => sql`${sql.ref(name)} text not null`))},
      ${sql.join(FIGURES.map((name) => sql`${sql.ref(name)} integer not null`))},
      ${sql.join(TOKEN_FIGURES.map((name) => sql`${sql.ref(name)} bigint not null`))},
      primary key (${sql.join(KEY.map((name) => sql.ref(name)))})
    )
  `
    .execute(db)
    .then(() => undefined);
