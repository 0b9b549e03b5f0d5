import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { DeletionReceipt } from '../../contract/receipt.ts';
import type { SessionKey } from '../log/decide.ts';
import { recordAction } from './audit.ts';
import { toTimestamp } from './columns.ts';
import { forUpdate } from './dialect.ts';
import { changedRows, firstRow, NONE, type Sql } from './rows.ts';
import type { AppendRow, Db, RemovalRow } from './schema.ts';

/*
 * Removals of sessions and of the content of sessions. Each row is also a receipt: counts, and a digest that can be computed again
 * from an earlier copy of the store. `deletion-sql.ts` and `content-expiry.ts` insert the rows; `purge.ts` does what they say.
 */

export type RemovedAppend = Pick<AppendRow, 'first_sequence' | 'last_sequence' | 'body'>;

export const ofRemoved = ({ organizationId, sessionId }: SessionKey): Sql =>
  sql`organization_id = ${organizationId} and session_id = ${sessionId}`;

/** Finds the removal of a session. @param what only a removal of this */
export const findRemoval = (db: Db, key: SessionKey, what?: RemovalRow['what']): Promise<RemovalRow | undefined> =>
  firstRow(
    db,
    sql<RemovalRow>`select * from removals where ${ofRemoved(key)} ${what ? sql`and what = ${what}` : NONE}`,
  );

export type Unfinished = Pick<RemovalRow, 'organization_id' | 'session_id' | 'what'>;

/** Finds the removal with the lowest id of a session after an id, among those that are not finished. */
export const findUnfinished = (db: Db, after: string): Promise<Unfinished | undefined> =>
  firstRow(
    db,
    sql<Unfinished>`
      select organization_id, session_id, what from removals where finished_at is null and session_id > ${after} order by session_id limit 1`,
  );

/** Locks and reads the receipt so far. If a process stops, another one continues the removal. */
export const lockRemoval = (transaction: Db, key: SessionKey): Promise<RemovalRow | undefined> =>
  firstRow(transaction, sql<RemovalRow>`select * from removals where ${ofRemoved(key)} ${forUpdate(transaction)}`);

/** Adds the next appends of a session to its receipt, which the transaction has locked. */
export async function addToReceipt(
  transaction: Db,
  { organization_id: organizationId, session_id: sessionId, digest }: RemovalRow,
  appends: readonly RemovedAppend[],
): Promise<void> {
  const inOrder = [...appends].sort((one, other) => one.first_sequence - other.first_sequence);
  const after = inOrder.reduce<string | null>((before, { body }) => nextDigest(before, body), digest);
  const events = inOrder.reduce(
    (sum, { first_sequence, last_sequence }) => sum + last_sequence - first_sequence + 1,
    0,
  );
  const bytes = inOrder.reduce((sum, { body }) => sum + body.byteLength, 0);
  await sql`
    update removals
    set removed_events = removed_events + ${events}, removed_appends = removed_appends + ${inOrder.length},
      removed_bytes = removed_bytes + ${bytes}, digest = ${after}
    where ${ofRemoved({ organizationId, sessionId })}`.execute(transaction);
}

/** SHA-256 of the digest of the previous appends and the stored bytes of this append. */
export const nextDigest = (before: string | null, body: Uint8Array): string =>
  createHash('sha256')
    .update(before === null ? new Uint8Array() : Buffer.from(before, 'hex'))
    .update(body)
    .digest('hex');

/**
 * Records that nothing is left of what had to be removed, also in the audit log. If a deletion has taken over a removal of content,
 * that removal does not end here.
 */
export async function finishRemoval(
  transaction: Db,
  key: SessionKey,
  what: RemovalRow['what'],
  now: number,
): Promise<void> {
  const row = await firstRow(
    transaction,
    sql<RemovalRow>`
      update removals set finished_at = ${now}
      where ${ofRemoved(key)} and what = ${what} and finished_at is null returning *`,
  );
  // A session that is deleted with its organization needs no entry, and what has expired got its only entry when it expired.
  if (!row || row.by_kind === null) return;
  const { removed_events: events, removed_appends: appends, removed_bytes: bytes, digest } = row;
  const details = {
    ...{ why: whyOf(row), events: Number(events), appends: Number(appends), bytes: Number(bytes) },
    ...(digest === null ? {} : { digest }),
  };
  const happened = { actor: { kind: 'service', id: 'service' }, action: 'session.removed' } as const;
  const target = { kind: 'session', id: key.sessionId } as const;
  await recordAction(transaction, key.organizationId, { ...happened, target, details }, now);
}

/** Records that somebody deleted a session that had expired, so that it is not captured again. */
export const forgetExpiry = (db: Db, key: SessionKey, actor: AuditParty | undefined, now: number): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const changed = await changedRows(
      transaction,
      sql`
        update removals set last_event_at = null, by_kind = ${actor?.kind ?? null}, by_id = ${actor?.id ?? null}
        where ${ofRemoved(key)} and what = 'session' and last_event_at is not null`,
    );
    if (changed === 0 || !actor) return;
    const target = { kind: 'session', id: key.sessionId } as const;
    await recordAction(transaction, key.organizationId, { actor, action: 'session.deleted', target }, now);
  });

export const toReceipt = (row: RemovalRow): DeletionReceipt => ({
  sessionId: row.session_id,
  why: whyOf(row),
  ...(row.by_kind !== null && row.by_id !== null && { by: { kind: row.by_kind, id: row.by_id } }),
  deletedAt: toTimestamp(row.requested_at),
  ...(row.finished_at !== null && { removedAt: toTimestamp(row.finished_at) }),
  events: Number(row.removed_events),
  appends: Number(row.removed_appends),
  bytes: Number(row.removed_bytes),
  ...(row.digest !== null && { digest: row.digest }),
});

function whyOf({ what, by_kind, last_event_at }: RemovalRow): DeletionReceipt['why'] {
  if (what === 'content') return 'policy';
  if (last_event_at !== null) return 'expiry';
  if (by_kind === null) return 'organization';
  return by_kind === 'person' ? 'person' : 'machine';
}
