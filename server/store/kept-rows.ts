import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { replaceAddOns, type SessionAddOn } from './add-ons.ts';
import { NOTHING, removeValues, VERSION_OF_KEPT, writeValues } from './derived.ts';
import { forUpdate } from './dialect.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, SessionFactsRow, SessionRow, SessionValueRow } from './schema.ts';
import { replaceSessionDays, type SessionDay } from './session-days.ts';

/*
 * The derived rows of a session whose words are gone. They are written down beside it, because nobody can derive them again:
 * tables of derived rows may be emptied at any time, and are not part of an export.
 */

/** Values that tell what was said or done: whoever sees the facts alone finds no session by them. */
export const VALUES_OF_WORDS = ['command', 'commit', 'tests'] as const;

type Place = Pick<SessionRow, 'session_id' | 'organization_id' | 'plane' | 'started_at' | 'event_count' | 'masks'>;
type KeptFacts = Omit<SessionFactsRow, 'session_id' | 'organization_id' | 'plane' | 'started_at'>;
type KeptValue = Pick<SessionValueRow, 'field' | 'name' | 'value'>;

/** What was derived of a session, without its words. */
export interface KeptRows {
  facts: KeptFacts;
  values: readonly KeptValue[];
  days: readonly SessionDay[];
  addOns: readonly SessionAddOn[];
}

/** The texts of a session's facts without its words. */
export type WithoutWords = (facts: Pick<SessionFactsRow, 'version' | 'facts' | 'summary'>) => {
  facts: string;
  summary: string;
};

/** Reads what is derived of a session, and leaves its words out. Until the transaction ends, nobody derives it. */
export async function readKept(transaction: Db, row: Place, withoutWords: WithoutWords): Promise<KeptRows> {
  const own = sql`session_id = ${row.session_id} and organization_id = ${row.organization_id}`;
  const derived = await firstRow(
    transaction,
    sql<SessionFactsRow>`select * from session_facts where ${own} ${forUpdate(transaction)}`,
  );
  const given = { version: 0, facts: '', masks: row.masks, ...NOTHING, lag_ms: null, ...derived };
  const { session_id: _, organization_id: __, plane: ___, started_at: ____, ...figures } = given as SessionFactsRow;
  return {
    facts: {
      ...figures,
      ...withoutWords(figures),
      version: VERSION_OF_KEPT,
      derived_through: row.event_count,
      next_chunk: 1,
      claimed_until: 0,
      is_rewritten: 0,
      is_final: 1,
    },
    values: await allRows(
      transaction,
      sql<KeptValue>`
        select field, name, value from session_values
        where ${own} and field not in (${sql.join([...VALUES_OF_WORDS])}) order by field, value`,
    ),
    days: await rowsOf<SessionDay>(transaction, 'session_days', row),
    addOns: await rowsOf<SessionAddOn>(transaction, 'session_add_ons', row),
  };
}

/** Without the columns that all its rows share. */
async function rowsOf<Row>(db: Db, table: 'session_days' | 'session_add_ons', { session_id, organization_id }: Place) {
  const rows = await db
    .selectFrom(table)
    .selectAll()
    .where('session_id', '=', session_id)
    .where('organization_id', '=', organization_id)
    .orderBy('day')
    .orderBy('kind')
    .orderBy('name')
    .execute();
  return rows.map(({ session_id: _, organization_id: __, plane: ___, ...row }) => row as unknown as Row);
}

/** Replaces the facts of the session, and the values that find it. */
export async function writeKeptFacts(transaction: Db, row: Place, { facts, values }: KeptRows): Promise<void> {
  const { session_id, organization_id, plane, started_at } = row;
  await sql`delete from session_facts where session_id = ${session_id} and organization_id = ${organization_id}`.execute(
    transaction,
  );
  await transaction
    .insertInto('session_facts')
    .values({ session_id, organization_id, plane, started_at, ...facts })
    .execute();
  const statements = [removeValues(transaction, row), ...writeValues(transaction, row, { added: values, removed: [] })];
  for (const statement of statements) await transaction.executeQuery(statement);
}

/** Writes all that was derived of the session. */
export async function writeKept(transaction: Db, row: Place, kept: KeptRows): Promise<void> {
  await writeKeptFacts(transaction, row, kept);
  const statements = [
    ...replaceAddOns(transaction, row, kept.addOns),
    ...replaceSessionDays(transaction, row, kept.days),
  ];
  for (const statement of statements) await transaction.executeQuery(statement);
}

/* In base64, because an export has no bytes. */
export const packKept = (kept: KeptRows): string => zstdCompressSync(JSON.stringify(kept)).toString('base64');
export const unpackKept = (text: string): KeptRows =>
  JSON.parse(zstdDecompressSync(Buffer.from(text, 'base64')).toString('utf8'));
