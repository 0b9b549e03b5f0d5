import type { SessionFacts } from '../../contract/review.ts';
import type { Db } from './open.ts';
import type { SessionRow } from './schema.ts';

type Relation = SessionFacts['related'][number]['relation'];

const MOST = 100;

/** Sessions that this one goes on with or branched off, and those that did so with it. */
export async function findRelated(db: Db, session: SessionRow): Promise<{ relation: Relation; row: SessionRow }[]> {
  const { client_key, continues_key, forked_from_key } = session;
  const relations = [
    ['continues', 'client_key', continues_key],
    ['forkedFrom', 'client_key', forked_from_key],
    ['continuedBy', 'continues_key', client_key],
    ['forkedBy', 'forked_from_key', client_key],
  ] as const;
  const found = relations.map(async ([relation, column, key]) => {
    if (key === null) return [];
    const rows = await db
      .selectFrom('sessions')
      .selectAll()
      .where('organization_id', '=', session.organization_id)
      .where('plane', '=', session.plane)
      .where(column, '=', key)
      .where('deleted_at', 'is', null)
      .orderBy('started_at')
      .orderBy('session_id')
      .limit(MOST)
      .execute();
    return rows.map((row) => ({ relation, row }));
  });
  return (await Promise.all(found)).flat();
}

/** What a version of the rules derived of a session, as JSON text; empty where it derived nothing. */
export const findFacts = async (
  db: Db,
  organizationId: string,
  sessionId: string,
  version: number,
): Promise<string> => {
  const row = await db
    .selectFrom('session_facts')
    .select('facts')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.facts ?? '';
};
