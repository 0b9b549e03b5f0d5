import { sql } from 'kysely';
import { INDEX_ROW } from './derived.ts';
import { unpackText } from './packed.ts';
import { isPostgres } from './postgres.ts';
import { firstRow, runAll } from './rows.ts';
import type { Db, SessionChunkRow, SessionRow } from './schema.ts';
import { ofSession, removeValues, replaceSessionDays } from './session-rows.ts';
import { DERIVED } from './tables.ts';

/** Removes all derived rows of a session. It parses only the words for SQLite's index. */
export async function removeDerived(db: Db, session: SessionRow): Promise<void> {
  await db.transaction().execute((transaction) => removeRows(transaction, session));
  await removeChunks(db, session);
}

/** Removes the entries and the words of a session. */
export async function removeChunks(db: Db, session: Pick<SessionRow, 'organization_id' | 'session_id'>): Promise<void> {
  while (await removeChunk(db, session.organization_id, session.session_id));
  await removeEntries(db, session);
}

/** Removes the facts and the few remaining chunks within a transaction. The session is then derived from its first event. */
export async function removeFacts(transaction: Db, session: SessionRow): Promise<void> {
  await removeRows(transaction, session);
  if (!isPostgres(transaction)) while (await removeFirst(transaction, session.organization_id, session.session_id));
  await removeEntries(transaction, session);
}

/** The facts come first, because no process writes the other rows without a row of facts. */
const removeRows = (transaction: Db, session: SessionRow): Promise<void> =>
  runAll(transaction, [
    sql`delete from session_facts where ${ofSession(session)}`,
    removeValues(session),
    ...replaceSessionDays(transaction, session, []),
  ]);

const removeEntries = (db: Db, session: Pick<SessionRow, 'organization_id' | 'session_id'>) =>
  sql`delete from session_chunks where ${ofSession(session)}`.execute(db);

/**
 * Removes one chunk from SQLite. Removing its 2,000 words from the index takes 50 ms and blocks other writes.
 * @returns whether there may be another chunk
 */
export const removeChunk = async (db: Db, organizationId: string, sessionId: string): Promise<boolean> =>
  !isPostgres(db) && db.transaction().execute((transaction) => removeFirst(transaction, organizationId, sessionId));

async function removeFirst(transaction: Db, organizationId: string, sessionId: string): Promise<boolean> {
  const chunk = await firstRow(
    transaction,
    sql<Pick<SessionChunkRow, 'words'> & { index_row: number }>`
      delete from session_chunks
      where organization_id = ${organizationId}
        and chunk_id = (select chunk_id from session_chunks where session_id = ${sessionId} limit 1)
      returning ${INDEX_ROW} as index_row, words`,
  );
  const words = chunk?.words instanceof Uint8Array ? unpackText(chunk.words) : '';
  if (chunk && words !== '') {
    await sql`insert into chunk_words (chunk_words, rowid, words)
      values ('delete', ${chunk.index_row}, ${words})`.execute(transaction);
  }
  return chunk !== undefined;
}

/** Removes all derived rows of all sessions, so that they are derived again. On SQLite no service may be running. */
export const removeAllDerived = (db: Db): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    if (isPostgres(db)) await sql`set local statement_timeout = 0`.execute(transaction);
    for (const table of DERIVED) {
      // The facts come first, because no process writes the other tables without them.
      if (table !== 'summed_days') await sql`delete from ${sql.table(table)}`.execute(transaction);
    }
    // Counts of changes are never reset. Otherwise a service that sums a day meanwhile would mistake few new rows for all rows.
    await sql`update summed_days set changes = changes + 1`.execute(transaction);
    if (!isPostgres(db)) await sql`insert into chunk_words (chunk_words) values ('delete-all')`.execute(transaction);
  });
