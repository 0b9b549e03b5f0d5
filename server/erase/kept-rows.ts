import { sql } from 'kysely';
import { forUpdate } from '../store/dialect.ts';
import { packText, unpackText } from '../store/packed.ts';
import { allRows, insertion, oneRow, runAll } from '../store/rows.ts';
import type { Db, SessionDayRow, SessionFactsRow, SessionRow } from '../store/schema.ts';
import {
  ofSession,
  removeValues,
  replaceSessionDays,
  type SessionDay,
  type SessionValue,
  VERSION_OF_KEPT,
  writeValues,
} from '../store/session-rows.ts';

/*
 * The derived rows of a session without its content. A copy of them is stored with the session, because they cannot be derived
 * again: the tables of derived rows may be emptied at any time, and are not part of an export.
 */

/** The values that reveal content. A viewer who may see only the facts cannot find a session by them. */
export const VALUES_OF_CONTENT = ['command', 'commit', 'tests'] as const;

type Place = Pick<SessionRow, 'session_id' | 'organization_id' | 'plane' | 'started_at' | 'event_count' | 'masks'>;
type KeptFacts = Omit<SessionFactsRow, 'session_id' | 'organization_id' | 'plane' | 'started_at' | 'facts'> & {
  /** JSON text. */
  facts: string | null;
};

/** The derived rows of a session without its content. */
export interface KeptRows {
  facts: KeptFacts;
  values: readonly SessionValue[];
  days: readonly SessionDay[];
}

/** Returns the texts of a session's facts without its content. */
export type WithoutContent = (facts: Pick<SessionFactsRow, 'version' | 'facts' | 'summary'>) => {
  facts: string | null;
  summary: string;
};

/** Reads the derived rows of a session without its content. Until the transaction ends, no process derives it. */
export async function readKept(transaction: Db, row: Place, withoutContent: WithoutContent): Promise<KeptRows> {
  const own = ofSession(row);
  const { session_id, organization_id, plane, started_at, masks } = row;
  const fresh = { session_id, organization_id, plane, started_at, masks };
  await insertion('session_facts', fresh, sql`on conflict do nothing`).execute(transaction);
  const {
    session_id: _,
    organization_id: __,
    plane: ___,
    started_at: ____,
    ...figures
  } = await oneRow(
    transaction,
    sql<SessionFactsRow>`select * from session_facts where ${own} ${forUpdate(transaction)}`,
  );
  return {
    facts: {
      ...figures,
      ...withoutContent(figures),
      version: VERSION_OF_KEPT,
      derived_through: row.event_count,
      next_chunk: 1,
      claimed_until: 0,
      is_rewritten: 0,
      is_final: 1,
    },
    values: await allRows(
      transaction,
      sql<SessionValue>`
        select field, name, path from session_values
        where ${own} and field not in (${sql.join([...VALUES_OF_CONTENT])}) order by field, name, path`,
    ),
    days: await readDays(transaction, row),
  };
}

/** Reads the figures by day without the columns that all rows of the session share. */
async function readDays(db: Db, session: Place): Promise<SessionDay[]> {
  const rows = await allRows(
    db,
    sql<SessionDayRow>`select * from session_days where ${ofSession(session)} order by day, kind, name`,
  );
  return rows.map(({ session_id: _, organization_id: __, plane: ___, ...row }) => row);
}

/** Replaces the facts of the session, and the values by which it is found. */
export const writeKeptFacts = (transaction: Db, row: Place, { facts, values }: KeptRows): Promise<void> => {
  const { session_id, organization_id, plane, started_at } = row;
  return runAll(transaction, [
    sql`delete from session_facts where ${ofSession(row)}`,
    insertion('session_facts', {
      ...{ session_id, organization_id, plane, started_at },
      ...{ ...facts, facts: facts.facts === null ? null : packText(facts.facts) },
    }),
    removeValues(row),
    ...writeValues(row, { added: values, removed: [] }),
  ]);
};

/** Writes all derived rows of the session. */
export async function writeKept(transaction: Db, row: Place, kept: KeptRows): Promise<void> {
  await writeKeptFacts(transaction, row, kept);
  await runAll(transaction, replaceSessionDays(transaction, row, kept.days));
}

/** Packs the rows as base64, because an export cannot contain binary data. */
export const packKept = (kept: KeptRows): string => Buffer.from(packText(JSON.stringify(kept))).toString('base64');
export const unpackKept = (text: string): KeptRows => JSON.parse(unpackText(Buffer.from(text, 'base64')));
