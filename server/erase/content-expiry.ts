import { sql } from 'kysely';
import { type Expiry, type RetentionBounds, type Term, termsOf } from '../../contract/retention.ts';
import type { SessionKey } from '../log/decide.ts';
import { optional, toTimestamp } from '../store/columns.ts';
import { removeChunks } from '../store/derived-removal.ts';
import { forUpdate } from '../store/dialect.ts';
import { assertReadable } from '../store/events.ts';
import { readPolicy } from '../store/policies.ts';
import { findContentReceipt } from '../store/receipts.ts';
import { changedRows, firstRow } from '../store/rows.ts';
import { removeSaltKeys } from '../store/salt-keys.ts';
import type { Db, ExpiredContentRow, SessionRow } from '../store/schema.ts';
import { CONTENT_COLUMNS } from '../store/session-columns.ts';
import { DAY_MS, type Due, mayLoseContent, REPOSITORY, type Unchanged } from './due-sessions.ts';
import { preventHolds } from './holds.ts';
import { packKept, readKept, unpackKept, type WithoutContent, writeKept, writeKeptFacts } from './kept-rows.ts';
import { removeSomeAppends, sweepEach } from './sweep.ts';

/** The rules by which the content of a session expires. */
export interface Expiring {
  due: Pick<Due, 'bounds' | 'now'>;
  /** The version of the rules that derive sessions. */
  version: number;
  withoutContent: WithoutContent;
}

/**
 * Hides the content of a session from all readers at once, if it has expired by the current rules, has no further events and is
 * not held. `sweepContents` removes it from the store afterwards.
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
      insert into expired_contents (session_id, organization_id, expired_at, last_event_at, event_count, days, target_kind,
        target_id, kept)
      select ${sessionId}, ${organizationId}, ${now}, coalesce(
          (select created_at from appends where session_id = ${sessionId} order by first_sequence desc limit 1), created_at),
        ${eventCount}, ${term.days}, ${term.target?.kind ?? null}, ${term.target?.id ?? null}, ${packKept(kept)}
      from sessions where organization_id = ${organizationId} and session_id = ${sessionId}`.execute(transaction);
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

/**
 * Removes expired content in slices. It continues where another process stopped, and stops after a slice once the signal is
 * aborted. It calls `onRemoved` after each session.
 * @throws as `sweepEach`
 */
export const sweepContents = (db: Db, now: () => number, signal?: AbortSignal, onRemoved?: () => void): Promise<void> =>
  sweepEach(
    (after) => findUnswept(db, after),
    async (row) => {
      await sweep(db, row, now(), signal);
      onRemoved?.();
    },
    signal,
  );

type Unswept = Pick<ExpiredContentRow, 'session_id' | 'organization_id'>;

const findUnswept = (db: Db, after: string) =>
  firstRow(
    db,
    sql<Unswept>`
      select session_id, organization_id from expired_contents
      where swept_at is null and session_id > ${after} order by session_id limit 1`,
  );

async function sweep(db: Db, row: Unswept, now: number, signal?: AbortSignal): Promise<void> {
  const { organization_id: organizationId, session_id: sessionId } = row;
  const key = { organizationId, sessionId };
  await assertReadable(db, key);
  while (!signal?.aborted && (await removeSomeAppends(db, key, 'expired_contents')) > 0);
  if (signal?.aborted) return;
  await removeChunks(db, row);
  const mine = sql`organization_id = ${organizationId} and session_id = ${sessionId}`;
  await sql`delete from stored_bytes where ${mine}`.execute(db);
  await changedRows(db, sql`update expired_contents set swept_at = ${now} where ${mine} and swept_at is null`);
}

/** Moves the receipt for a session's removed content to its tombstone, so that one receipt continues the other. */
export const handOverReceipt = (db: Db, { organizationId, sessionId }: SessionKey): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const content = await firstRow(
      transaction,
      sql<ExpiredContentRow>`
        delete from expired_contents where organization_id = ${organizationId} and session_id = ${sessionId}
        returning *`,
    );
    if (!content) return;
    await sql`
      update deleted_sessions
      set removed_events = ${content.removed_events}, removed_appends = ${content.removed_appends},
        removed_bytes = ${content.removed_bytes}, digest = ${content.digest}
      where organization_id = ${organizationId} and session_id = ${sessionId}`.execute(transaction);
  });

/** Restores the derived rows of a session with expired content if they are missing. @returns whether they were missing */
export const restoreKept = (db: Db, session: SessionRow): Promise<boolean> =>
  db.transaction().execute(async (transaction) => {
    const { organization_id, session_id } = session;
    const mine = sql`organization_id = ${organization_id} and session_id = ${session_id}`;
    const row = await firstRow(
      transaction,
      // Locked, because another replica may restore the rows too, or a deletion may remove them.
      sql<Pick<ExpiredContentRow, 'kept'>>`
        select kept from expired_contents where ${mine} ${forUpdate(transaction)}`,
    );
    const isThere = await firstRow(transaction, sql`select 1 from session_facts where ${mine}`);
    if (!row || isThere) return false;
    await writeKept(transaction, session, unpackKept(row.kept));
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
  const removed = row.content_expired_at === null ? undefined : await findRemoval(db, organizationId, sessionId);
  return {
    ...(removed && { contentRemoved: removed }),
    ...(content && row.content_expired_at === null && { contentKeptUntil: content }),
    ...(all && { keptUntil: all }),
  };
}

async function findRemoval(db: Db, organizationId: string, sessionId: string): Promise<Expiry | undefined> {
  const row = await findContentReceipt(db, organizationId, sessionId);
  if (!row) return undefined;
  const { target_kind: kind, target_id: id } = row;
  return {
    at: toTimestamp(row.expired_at),
    days: row.days,
    ...(kind !== null && { target: { kind, ...optional('id', id) } }),
  };
}
