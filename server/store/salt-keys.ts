import { sql } from 'kysely';
import { chainKeyOf, newChainKey, type SaltKeys, saltKeysOf } from '../../contract/salts.ts';
import type { SessionKey } from '../log/decide.ts';
import { forUpdate, isOneOf } from './dialect.ts';
import { allRows, firstRow } from './rows.ts';
import type { Db, SessionSaltsRow } from './schema.ts';

const toKeys = ({ salt_keys }: Pick<SessionSaltsRow, 'salt_keys'>) => JSON.parse(salt_keys) as SaltKeys;

const ofSession = ({ organizationId, sessionId }: SessionKey) =>
  sql`organization_id = ${organizationId} and session_id = ${sessionId}`;

/** Gives a session a key, in the transaction that opens it. */
export const insertSaltKeys = (transaction: Db, { organizationId, sessionId }: SessionKey) =>
  sql`
    insert into session_salts (session_id, organization_id, salt_keys)
    values (${sessionId}, ${organizationId}, ${JSON.stringify(saltKeysOf(newChainKey()))})`.execute(transaction);

/** The keys of the salts that a session has left. There are none if its content was removed. */
export async function findSaltKeys(db: Db, place: SessionKey): Promise<SaltKeys> {
  const row = await firstRow(db, sql<SessionSaltsRow>`select * from session_salts where ${ofSession(place)}`);
  return row ? toKeys(row) : {};
}

/** Finds the chain keys of these sessions, by session. A session with a masked event has none any more. */
export async function findChainKeys(
  db: Db,
  organizationId: string,
  sessionIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await allRows(
    db,
    sql<SessionSaltsRow>`
      select * from session_salts
      where organization_id = ${organizationId} and ${isOneOf(db, 'session_id', sessionIds)}`,
  );
  return new Map(
    rows.flatMap((row) => {
      const chainKey = chainKeyOf(toKeys(row));
      return chainKey === undefined ? [] : [[row.session_id, chainKey]];
    }),
  );
}

/** Reads the keys, and prevents other changes of them until the transaction ends. */
export async function lockSaltKeys(transaction: Db, place: SessionKey): Promise<SaltKeys> {
  const row = await firstRow(
    transaction,
    sql<SessionSaltsRow>`select * from session_salts where ${ofSession(place)} ${forUpdate(transaction)}`,
  );
  return row ? toKeys(row) : {};
}

export const writeSaltKeys = (transaction: Db, place: SessionKey, keys: SaltKeys) =>
  sql`update session_salts set salt_keys = ${JSON.stringify(keys)} where ${ofSession(place)}`.execute(transaction);

/** Removes the keys together with the content of a session. */
export const removeSaltKeys = (transaction: Db, place: SessionKey) =>
  sql`delete from session_salts where ${ofSession(place)}`.execute(transaction);
