import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { replaceAddOns } from './add-ons.ts';
import { removeValues } from './derived.ts';
import { isPostgres } from './postgres.ts';
import type { Db, SessionRow } from './schema.ts';
import { replaceSessionDays } from './session-days.ts';

/** Removes all that was derived of a session. Nothing of it is parsed but the words in SQLite's index. */
export async function removeDerived(db: Db, session: SessionRow): Promise<void> {
  await db.transaction().execute((transaction) => removeRows(transaction, session));
  await removeChunks(db, session);
}

/** Removes the entries and the words of a session. */
export async function removeChunks(db: Db, session: Pick<SessionRow, 'organization_id' | 'session_id'>): Promise<void> {
  while (await removeChunk(db, session.organization_id, session.session_id));
  await removeEntries(db, session);
}

/** The same within a transaction, with the few chunks that are left: then the session is derived from its first event again. */
export async function removeFacts(transaction: Db, session: SessionRow): Promise<void> {
  await removeRows(transaction, session);
  if (!isPostgres(transaction)) while (await removeFirst(transaction, session.organization_id, session.session_id));
  await removeEntries(transaction, session);
}

async function removeRows(transaction: Db, session: SessionRow): Promise<void> {
  // Without this row nobody writes to the others.
  await transaction
    .deleteFrom('session_facts')
    .where('organization_id', '=', session.organization_id)
    .where('session_id', '=', session.session_id)
    .execute();
  const rest = [
    removeValues(transaction, session),
    ...replaceAddOns(transaction, session, []),
    ...replaceSessionDays(transaction, session, []),
  ];
  for (const statement of rest) await transaction.executeQuery(statement);
}

const removeEntries = (db: Db, { organization_id, session_id }: Pick<SessionRow, 'organization_id' | 'session_id'>) =>
  db
    .deleteFrom('session_chunks')
    .where('organization_id', '=', organization_id)
    .where('session_id', '=', session_id)
    .execute();

/**
 * Removes one chunk from SQLite: removing its 2,000 words from the index takes 50 ms, and nothing else is written meanwhile.
 * @returns whether there may be another one
 */
export const removeChunk = async (db: Db, organizationId: string, sessionId: string): Promise<boolean> =>
  !isPostgres(db) && db.transaction().execute((transaction) => removeFirst(transaction, organizationId, sessionId));

async function removeFirst(transaction: Db, organizationId: string, sessionId: string): Promise<boolean> {
  const chunk = await transaction
    .deleteFrom('session_chunks')
    .where('organization_id', '=', organizationId)
    .where('chunk_id', '=', (query) =>
      query.selectFrom('session_chunks').select('chunk_id').where('session_id', '=', sessionId).limit(1),
    )
    .returning(['chunk_id', 'words'])
    .executeTakeFirst();
  const words = chunk?.words instanceof Uint8Array ? zstdDecompressSync(chunk.words).toString('utf8') : '';
  if (chunk && words !== '') {
    await sql`insert into chunk_words (chunk_words, rowid, words)
      values ('delete', ${chunk.chunk_id}, ${words})`.execute(transaction);
  }
  return chunk !== undefined;
}

/** The facts come first: without them nothing is written to the others. */
const TABLES = [
  'session_facts',
  'session_values',
  'session_chunks',
  'session_days',
  'session_add_ons',
  'usage_days',
] as const;

/** Removes all that was derived of all sessions, so that it is derived again. On SQLite while no service runs. */
export const removeAllDerived = (db: Db): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    if (isPostgres(db)) await sql`set local statement_timeout = 0`.execute(transaction);
    for (const table of TABLES) await transaction.deleteFrom(table).execute();
    // The counts of changes never start again: a service that adds up a day meanwhile would take few new rows for all.
    await transaction.updateTable('summed_days').set({ changes: sql<number>`changes + 1` }).execute();
    if (!isPostgres(db)) await sql`insert into chunk_words (chunk_words) values ('delete-all')`.execute(transaction);
  });
