import type { Db } from './open.ts';
import { isPostgres } from './postgres.ts';
import type { SessionDayRow, SessionRow } from './schema.ts';
import { type ModelTokens, noteChanged, readModelTokens } from './session-days.ts';

/** What the tokens of a model cost on a day of a session. */
export type PricedDay = Pick<SessionDayRow, 'day' | 'name' | 'cost' | 'unpriced_tokens'>;

const SESSIONS_AT_ONCE = 50;

/** Ids of the next sessions of all organizations that have been derived, in order. */
export async function listPriced(db: Db, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('session_facts')
    .select('session_id')
    .where('session_id', '>', after)
    .orderBy('session_id')
    .limit(SESSIONS_AT_ONCE)
    .execute();
  return rows.map(({ session_id }) => session_id);
}

/** What a session costs, and its models on each day; null without a known price. */
export interface SessionCosts {
  days: readonly PricedDay[];
  cost: number | null;
}

/**
 * Writes what all models of a session cost on each day, and what the session costs.
 * @param costsOf is given the tokens that the session has once nobody else can change them
 */
export function writeCosts(
  db: Db,
  session: Pick<SessionRow, 'session_id' | 'organization_id' | 'plane'>,
  costsOf: (rows: readonly ModelTokens[]) => SessionCosts,
): Promise<void> {
  const { session_id, organization_id } = session;
  return db.transaction().execute(async (transaction) => {
    // The facts come first, as where a derived piece is written: two transactions never wait for each other in a circle.
    const facts = await transaction
      .selectFrom('session_facts')
      .select('session_id')
      .where('session_id', '=', session_id)
      .where('organization_id', '=', organization_id)
      .$if(isPostgres(db), (query) => query.forUpdate())
      .executeTakeFirst();
    if (!facts) return;
    const { days, cost } = costsOf(await readModelTokens(transaction, [session_id]));
    await transaction
      .updateTable('session_facts')
      .set({ cost })
      .where('session_id', '=', session_id)
      .where('organization_id', '=', organization_id)
      .execute();
    const write = (kind: SessionDayRow['kind'], { day, name, cost, unpriced_tokens }: PricedDay) =>
      transaction
        .updateTable('session_days')
        .set({ cost, unpriced_tokens })
        .where('session_id', '=', session_id)
        .where('organization_id', '=', organization_id)
        .where('day', '=', day)
        .where('kind', '=', kind)
        .where('name', '=', name)
        .execute();
    const byDay = Map.groupBy(days, ({ day }) => day);
    for (const [day, models] of byDay) {
      for (const model of models) await write('model', model);
      const sum = (of: 'cost' | 'unpriced_tokens') => models.reduce((total, model) => total + model[of], 0);
      await write('session', { day, name: '', cost: sum('cost'), unpriced_tokens: sum('unpriced_tokens') });
    }
    await noteChanged(transaction, session, new Set(byDay.keys()));
  });
}
