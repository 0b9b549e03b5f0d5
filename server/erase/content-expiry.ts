import { sql } from 'kysely';
import { type Expiry, type RetentionBounds, type Term, termsOf } from '../../contract/retention.ts';
import type { SessionKey } from '../log/decide.ts';
import { recordAction } from '../store/audit.ts';
import { contentExpired } from '../store/audit-chain.ts';
import { optional, toTimestamp } from '../store/columns.ts';
import { forUpdate } from '../store/dialect.ts';
import { readPolicy } from '../store/policies.ts';
import { findRemoval, lockRemoval, ofRemoved } from '../store/removals.ts';
import { firstRow } from '../store/rows.ts';
import { removeSaltKeys } from '../store/salt-keys.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { CONTENT_COLUMNS } from '../store/session-columns.ts';
import { DAY_MS, type Due, mayLoseContent, REPOSITORY, type Unchanged } from './due-sessions.ts';
import { preventHolds } from './holds.ts';
import { packKept, readKept, unpackKept, type WithoutContent, writeKept, writeKeptFacts } from './kept-rows.ts';

/** The rules by which the content of a session expires. */
export interface Expiring {
  due: Pick<Due, 'bounds' | 'now'>;
  /** The version of the rules that derive sessions. */
  version: number;
  withoutContent: WithoutContent;
}

/**
 * Hides the content of a session from all readers at once, if it has expired by the current rules, has no further events and is
 * not held. `purgeRemoved` removes it from the store afterwards.
 * @returns the session before the change; undefined if it keeps its content
 */
export const expireContent = (
  db: Db,
  { organizationId, sessionId, eventCount }: Unchanged,
  { due: { bounds, now }, version, withoutContent }: Expiring,
): Promise<SessionRow | undefined> =>
  db.transaction().execute(async (transaction) => {
    await preventHolds(transaction, organizationId);
    await lockSession(transaction, { organizationId, sessionId });
    const { retention: rules } = await readPolicy(transaction, organizationId);
    const due: Due = { organizationId, rules, bounds, field: 'contentDays', now };
    const row = await firstRow(
      transaction,
      sql<SessionRow & { retained_repository: string | null }>`
        update sessions set content_expired_at = ${now}, ${sql.join(CONTENT_COLUMNS.map((name) => sql`${sql.ref(name)} = null`))}
        where session_id = ${sessionId} and event_count = ${eventCount} and ${mayLoseContent(due, version)}
        returning *, ${REPOSITORY} as retained_repository`,
    );
    if (!row) return undefined;
    const { retained_repository: repository, ...session } = row;
    const kept = await readKept(transaction, session, withoutContent);
    await writeKeptFacts(transaction, session, kept);
    await removeSaltKeys(transaction, { organizationId, sessionId });
    const term = termsOf(rules, bounds, { plane: session.plane, repository }).contentDays as Term;
    await sql`
      insert into removals (session_id, organization_id, what, plane, environment_id, requested_at, last_event_at, event_count,
        days, target_kind, target_id, kept)
      select ${sessionId}, ${organizationId}, 'content', plane, environment_id, ${now}, coalesce(
          (select created_at from appends where session_id = ${sessionId} order by first_sequence desc limit 1), created_at),
        ${eventCount}, ${term.days}, ${term.target?.kind ?? null}, ${term.target?.id ?? null}, ${packKept(kept)}
      from sessions where organization_id = ${organizationId} and session_id = ${sessionId}`.execute(transaction);
    await recordAction(transaction, organizationId, contentExpired(sessionId, eventCount), now);
    return session;
  });

/**
 * Locks the row first. Otherwise PostgreSQL would evaluate the conditions before it waits for the row, although the other
 * transaction may be masking the session and removing the facts that must be kept.
 */
const lockSession = (transaction: Db, { organizationId, sessionId }: SessionKey) =>
  sql`
    select 1 from sessions where organization_id = ${organizationId} and session_id = ${sessionId}
    ${forUpdate(transaction)}`.execute(transaction);

/** Restores the derived rows of a session with expired content if they are missing. @returns whether they were missing */
export const restoreKept = (db: Db, session: SessionRow): Promise<boolean> =>
  db.transaction().execute(async (transaction) => {
    const { organization_id, session_id } = session;
    const key = { organizationId: organization_id, sessionId: session_id };
    // Locked, because another replica may restore the rows too, or a deletion may remove them.
    const removal = await lockRemoval(transaction, key);
    const isThere = await firstRow(transaction, sql`select 1 from session_facts where ${ofRemoved(key)}`);
    if (!removal || removal.kept === null || isThere) return false;
    await writeKept(transaction, session, unpackKept(removal.kept));
    return true;
  });

/** Finds out how much the policy has removed of a session, and when it will remove more. */
export async function findExpiry(db: Db, row: SessionRow, bounds: RetentionBounds) {
  const { organization_id: organizationId, session_id: sessionId } = row;
  const { retention: rules } = await readPolicy(db, organizationId);
  const found = await firstRow(
    db,
    sql<{ repository: string | null }>`
      select ${REPOSITORY} as repository from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );
  const terms = termsOf(rules, bounds, { plane: row.plane, repository: found?.repository ?? null });
  const until = (term: Term | undefined): Expiry | undefined =>
    term && { ...term, at: toTimestamp(row.updated_at + term.days * DAY_MS) };
  const [content, all] = [until(terms.contentDays), until(terms.factsDays)];
  const removed =
    row.content_expired_at === null ? undefined : await findExpiryOfContent(db, { organizationId, sessionId });
  return {
    ...(removed && { contentRemoved: removed }),
    ...(content && row.content_expired_at === null && { contentKeptUntil: content }),
    ...(all && { keptUntil: all }),
  };
}

async function findExpiryOfContent(db: Db, key: SessionKey): Promise<Expiry | undefined> {
  const row = await findRemoval(db, key, 'content');
  if (!row || row.days === null) return undefined;
  const { requested_at, days, target_kind: kind, target_id: id } = row;
  return { at: toTimestamp(requested_at), days, ...(kind !== null && { target: { kind, ...optional('id', id) } }) };
}
