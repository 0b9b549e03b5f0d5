import { sql } from 'kysely';
import { PLANES } from '../../contract/secret.ts';
import { forUpdate, isOneOf, rowsOfTexts, unindexed } from './dialect.ts';
import { allRows, insertions, type Sql } from './rows.ts';
import type { Db, SessionDayRow, SessionRow, SessionValueRow } from './schema.ts';

/* The rows of a session that are summed by day, and the values by which it is found. */

/** The version of the rows of a session with expired content. No version of the rules replaces them. */
export const VERSION_OF_KEPT = 2_147_483_647;

/** A row of one session on one day, without the columns that all its rows share. */
export type SessionDay = Omit<SessionDayRow, 'session_id' | 'organization_id' | 'plane'>;
export type SessionValue = Pick<SessionValueRow, 'field' | 'name' | 'path'>;

type Session = Pick<SessionRow, 'session_id' | 'organization_id' | 'plane'>;

export const ofSession = ({ session_id, organization_id }: Omit<Session, 'plane'>): Sql =>
  sql`session_id = ${session_id} and organization_id = ${organization_id}`;

/**
 * The person to whom the session of a row of `session_days` belongs. The rows do not have the person, because sessions are given to
 * others. The query must see all sessions of the organization.
 */
export const PERSON: Sql = sql`(select user_id from sessions where sessions.session_id = session_days.session_id)`;

const inFront = ({ session_id, organization_id, plane }: Session) => ({ session_id, organization_id, plane });

/**
 * Replaces all rows of the session, and marks the sums of its days as outdated. Run these statements at the end of a
 * transaction, because sessions of the same day wait here for each other. The days are sorted, so that they cannot deadlock.
 */
export function replaceSessionDays(db: Db, session: Session, rows: readonly SessionDay[]): Sql[] {
  const before = sql`select day from session_days where ${ofSession(session)}`;
  const after = rowsOfTexts(db, [...new Set(rows.map(({ day }) => day))]);
  return [
    markChanged(session, sql`${before} union select id from (${after}) as added`),
    sql`delete from session_days where ${ofSession(session)}`,
    ...insertions(
      'session_days',
      rows.map((row) => ({ ...inFront(session), ...row })),
    ),
  ];
}

/** Marks the sums of days as outdated. SQLite accepts `on conflict` only after a condition. */
const markChanged = ({ organization_id, plane }: Omit<Session, 'session_id'>, days: Sql): Sql => sql`
  insert into summed_days (organization_id, plane, day, changes, summed)
  select ${organization_id}, ${plane}, day, 1, 0 from (${days}) as changed where true order by day
  on conflict (organization_id, plane, day) do update set changes = summed_days.changes + 1`;

/**
 * Has the words of sessions indexed again for the people who may read them now, in the transaction that changes who these are. The
 * version becomes negative, which says that the words must be removed first, and another one each time, so that a process that
 * derives one of the sessions loses its claim.
 */
export async function forgetWords(transaction: Db, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  await sql`
    update session_facts set version = case when version > 0 then -1 else version - 1 end, is_final = 0, claimed_until = 0
    where ${isOneOf(transaction, 'session_id', sessionIds)} and version < ${VERSION_OF_KEPT}`.execute(transaction);
}

/**
 * Gives sessions to a person, in a transaction.
 * @returns their ids, for `markGiven`
 */
export async function giveSessions(transaction: Db, which: Sql, userId: string): Promise<string[]> {
  const rows = await allRows(
    transaction,
    sql<Pick<SessionRow, 'session_id' | 'visibility'>>`
      update sessions set user_id = ${userId} where ${which} returning session_id, visibility`,
  );
  await forgetWords(
    transaction,
    rows.flatMap(({ session_id, visibility }) => (visibility === 'team' ? [] : [session_id])),
  );
  return rows.map(({ session_id }) => session_id);
}

/**
 * Marks the sums of the days of sessions that were given to a person as outdated. Call it once in a transaction, at its end, as
 * `replaceSessionDays`.
 */
export async function markGiven(transaction: Db, organizationId: string, sessionIds: readonly string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  // A process that derives one of the sessions waits here, and marks the days that it adds itself.
  await sql`
    select session_id from session_facts where ${isOneOf(transaction, 'session_id', sessionIds)}
    order by session_id ${forUpdate(transaction)}`.execute(transaction);
  for (const plane of PLANES) {
    const days = sql`
      select distinct day from session_days
      where ${unindexed(transaction, 'organization_id')} = ${organizationId} and plane = ${plane}
        and ${isOneOf(transaction, 'session_id', sessionIds)}`;
    await markChanged({ organization_id: organizationId, plane }, days).execute(transaction);
  }
}

/** Removes the values by which the session is found. */
export const removeValues = (session: Omit<Session, 'plane'>): Sql =>
  sql`delete from session_values where ${ofSession(session)}`;

const VALUES_AT_ONCE = 500;

/** Changes the values by which the session is found. */
export function writeValues(
  { session_id, organization_id }: Omit<Session, 'plane'>,
  { added, removed }: Record<'added' | 'removed', readonly SessionValue[]>,
): Sql[] {
  const statements: Sql[] = [];
  for (let from = 0; from < removed.length; from += VALUES_AT_ONCE) {
    const gone = removed
      .slice(from, from + VALUES_AT_ONCE)
      .map(({ field, name, path }) => sql`(${field}, ${name}, ${path})`);
    statements.push(sql`
      delete from session_values
      where ${ofSession({ session_id, organization_id })} and (field, name, path) in (values ${sql.join(gone)})`);
  }
  const rows = added.map((value) => ({ session_id, organization_id, ...value }));
  return [...statements, ...insertions('session_values', rows, sql`on conflict do nothing`)];
}
