import { sql } from 'kysely';
import { deriveSession } from '../derive/derive-session.ts';
import { deriveSlice, type SliceJob } from '../derive/derive-slice.ts';
import { memoryOf } from '../derive/derive-thread.ts';
import { KeptSessions } from '../derive/kept-sessions.ts';
import { readPrices } from '../derive/prices/prices.ts';
import { VERSIONS_OF_FORM } from '../derive/version.ts';
import { unpackText } from '../store/packed.ts';
import type { Db } from '../store/schema.ts';
import { listDaysBehind, sumDay } from '../store/summed-days.ts';
import { wordPrefix } from '../store/word-index.ts';
import type { TestStore } from './engines.ts';

const prices = readPrices();
/** The version of what is derived on this thread: the rules with the first prices. */
export const VERSION_HERE = VERSIONS_OF_FORM[0] + 1;

/** Derives slices on this thread, with the same memory that the other thread would use. */
export function createDeriveHere() {
  const kept = new KeptSessions();
  return (job: SliceJob) => deriveSlice(structuredClone(job, { transfer: memoryOf(job) }), prices, kept);
}

/** Derives a session through its last event, on this thread. */
export const derive = (db: Db, organizationId: string, sessionId: string, deriveHere = createDeriveHere()) =>
  deriveSession(
    {
      db,
      now: () => 0,
      rest: async () => undefined,
      signal: new AbortController().signal,
      derive: async (job) => deriveHere(job),
      version: VERSION_HERE,
    },
    organizationId,
    sessionId,
  );

/** Everything that is derived, sorted, without the columns in which two equal results may differ. */
export async function readDerived({ db, engine }: TestStore) {
  const facts = await db.selectFrom('session_facts').selectAll().orderBy('session_id').execute();
  const values = await db.selectFrom('session_values').selectAll().execute();
  const chunks = await db
    .selectFrom('session_chunks')
    .select(['chunk_id', 'session_id', 'first_sequence', 'last_sequence', 'index_row', 'signature', 'entries'])
    .select(engine === 'postgres' ? sql<string[]>`tsvector_to_array(words)`.as('words') : 'words')
    .orderBy('session_id')
    .orderBy('first_sequence')
    .execute();
  const days = await db.selectFrom('session_days').selectAll().execute();
  for (const day of await listDaysBehind(db, undefined, 1_000)) await sumDay(db, day);
  const sums = await db.selectFrom('usage_days').selectAll().execute();
  const asText = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row, Object.keys(row).sort())).sort();
  return {
    facts: facts.map(({ claimed_until: _, facts: known, ...row }) => ({
      ...row,
      facts: known && JSON.parse(unpackText(known)),
    })),
    values: asText(values),
    chunks: chunks.map(({ chunk_id: _, index_row: rowId, entries, words, signature, ...row }) => ({
      ...row,
      rowFirst: chunks.find(({ chunk_id: id }) => id === rowId)?.first_sequence ?? row.first_sequence,
      signature: Buffer.from(signature).toString('base64'),
      entries: JSON.parse(unpackText(entries)),
      // Words start with a prefix of the organization, which differs between runs.
      words: (words instanceof Uint8Array ? unpackText(words).split(' ') : [...(words ?? [])])
        .map(withoutPrefix)
        .sort(),
    })),
    days: asText(days),
    sums: asText(sums),
  };
}

const teamOf = (organizationId: string) =>
  wordPrefix({ organization_id: organizationId, visibility: 'team', user_id: null });

const withoutPrefix = (word: string) => word.slice(teamOf('').length);

/** First sequences of the session's index rows that have the word. */
export async function chunksWith({ db, engine }: TestStore, sessionId: string, word: string): Promise<number[]> {
  const session = await db
    .selectFrom('sessions')
    .select(['organization_id', 'visibility', 'user_id'])
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  const indexed = wordPrefix(session) + word;
  const { rows } = await sql<{ first_sequence: number }>`select first_sequence from session_chunks
    where session_id = ${sessionId} and ${isIndexed(engine, indexed)} order by first_sequence`.execute(db);
  return rows.map((row) => row.first_sequence);
}

/** Counts the index rows, of all organizations, that the index finds for a word of the team's sessions of one organization. */
export async function countChunksWith({ db, engine }: TestStore, organizationId: string, word: string) {
  const { rows } = await sql<{ count: number }>`select count(*) as count from session_chunks
    where ${isIndexed(engine, teamOf(organizationId) + word)}`.execute(db);
  return Number(rows[0]?.count);
}

const isIndexed = (engine: TestStore['engine'], word: string) =>
  engine === 'postgres'
    ? sql`words @@ ${word}::tsquery`
    : sql`chunk_id in (select rowid from chunk_words where chunk_words match ${word})`;
