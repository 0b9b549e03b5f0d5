import type { Db } from './open.ts';
import type { SessionFactsRow } from './schema.ts';

type Priced = Pick<SessionFactsRow, 'session_id' | 'organization_id' | 'derived_through' | 'cost' | 'facts'>;

/** Each has 256 KiB of facts at most. */
const ROWS_AT_ONCE = 50;

/** The next sessions of all organizations, by their ids, with what is known of them. */
export const readPriced = (db: Db, after: string): Promise<Priced[]> =>
  db
    .selectFrom('session_facts')
    .select(['session_id', 'organization_id', 'derived_through', 'cost', 'facts'])
    .where('session_id', '>', after)
    .where('derived_through', '>', 0)
    .orderBy('session_id')
    .limit(ROWS_AT_ONCE)
    .execute();

/** Of those to which nothing was added meanwhile: whoever adds prices anew. */
export async function writeCosts(db: Db, rows: readonly Priced[]): Promise<void> {
  for (const { session_id, organization_id, derived_through, cost } of rows) {
    await db
      .updateTable('session_facts')
      .set({ cost })
      .where('session_id', '=', session_id)
      .where('organization_id', '=', organization_id)
      .where('derived_through', '=', derived_through)
      .execute();
  }
}
