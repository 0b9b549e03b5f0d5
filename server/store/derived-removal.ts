import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { addFigures, type FigureChange } from './figures.ts';
import type { Db } from './open.ts';
import { isPostgres } from './postgres.ts';
import type { SessionRow } from './schema.ts';

/** What a session has added to the sums by day, of which its facts tell. */
export type FiguresOf = (facts: string, session: Pick<SessionRow, 'agent_id' | 'environment_id'>) => FigureChange[];

/** Removes what was derived of a session, and its share of the sums. */
export async function removeDerived(db: Db, session: SessionRow, figuresOf: FiguresOf): Promise<void> {
  const { organization_id: organizationId, session_id: sessionId, plane } = session;
  // The row first: without it nobody derives the session any more.
  await db.transaction().execute(async (transaction) => {
    const row = await transaction
      .deleteFrom('session_facts')
      .where('organization_id', '=', organizationId)
      .where('session_id', '=', sessionId)
      .returning('facts')
      .executeTakeFirst();
    const share = row ? figuresOf(row.facts, session) : [];
    await addFigures(transaction, organizationId, plane, share.map(negative));
  });
  await db
    .deleteFrom('session_values')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .execute();
  if (!isPostgres(db)) while (await removeFromIndex(db, organizationId, sessionId));
  await db
    .deleteFrom('session_chunks')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .execute();
}

const negative = (row: FigureChange): FigureChange =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? 0 - value : value]),
  ) as unknown as FigureChange;

/** One chunk: to take its 2,000 words out of the index takes 50 ms, in which nothing else is written. */
function removeFromIndex(db: Db, organizationId: string, sessionId: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
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
  });
}

/** Removes all that was derived, of all sessions: it is derived anew. On SQLite while no service runs. */
export const removeAllDerived = (db: Db): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    if (isPostgres(db)) await sql`set local statement_timeout = 0`.execute(transaction);
    // The facts first: without them nothing is written to the others.
    for (const table of ['session_facts', 'session_values', 'session_chunks', 'figures'] as const) {
      await transaction.deleteFrom(table).execute();
    }
    if (!isPostgres(db)) await sql`insert into chunk_words (chunk_words) values ('delete-all')`.execute(transaction);
  });
