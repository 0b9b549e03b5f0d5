import { sql } from 'kysely';
import { forUpdate } from './dialect.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, SessionDayRow, SessionRow } from './schema.ts';
import { type ModelTokens, noteChanged, readModelTokens } from './session-days.ts';

/** The cost of a model's tokens on a day of a session. */
export type PricedDay = Pick<SessionDayRow, 'day' | 'name' | 'cost' | 'unpriced_tokens'>;

const SESSIONS_AT_ONCE = 50;

/** Ids of the next derived sessions of all organizations, in order. */
export async function listPriced(db: Db, after: string): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<Pick<SessionRow, 'session_id'>>`
      select session_id from session_facts where session_id > ${after} order by session_id limit ${SESSIONS_AT_ONCE}`,
  );
  return rows.map(({ session_id }) => session_id);
}

/** The cost of a session, and of its models on each day; null without a known price. */
export interface SessionCosts {
  days: readonly PricedDay[];
  cost: number | null;
}

/**
 * Stores the cost of a session, and of its models on each day.
 * @param costsOf computes the costs from the tokens, while nobody else can change them
 */
export function writeCosts(
  db: Db,
  session: Pick<SessionRow, 'session_id' | 'organization_id' | 'plane'>,
  costsOf: (rows: readonly ModelTokens[]) => SessionCosts,
): Promise<void> {
  const { session_id, organization_id } = session;
  return db.transaction().execute(async (transaction) => {
    // The facts come first, as in every writer of derived data, so that two transactions cannot deadlock.
    const facts = await firstRow(
      transaction,
      sql`
        select session_id from session_facts
        where session_id = ${session_id} and organization_id = ${organization_id} ${forUpdate(db)}`,
    );
    if (!facts) return;
    const { days, cost } = costsOf(await readModelTokens(transaction, [session_id]));
    await sql`
      update session_facts set cost = ${cost}
      where session_id = ${session_id} and organization_id = ${organization_id}`.execute(transaction);
    const write = (kind: SessionDayRow['kind'], { day, name, cost, unpriced_tokens }: PricedDay) =>
      sql`
        update session_days set cost = ${cost}, unpriced_tokens = ${unpriced_tokens}
        where session_id = ${session_id} and organization_id = ${organization_id}
          and day = ${day} and kind = ${kind} and name = ${name}`.execute(transaction);
    const byDay = Map.groupBy(days, ({ day }) => day);
    for (const [day, models] of byDay) {
      for (const model of models) await write('model', model);
      const sum = (of: 'cost' | 'unpriced_tokens') => models.reduce((total, model) => total + model[of], 0);
      await write('session', { day, name: '', cost: sum('cost'), unpriced_tokens: sum('unpriced_tokens') });
    }
    await noteChanged(transaction, session, new Set(byDay.keys()));
  });
}
