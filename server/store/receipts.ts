import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { DeletionReceipt } from '../../contract/receipt.ts';
import { recordAction } from './audit.ts';
import { toTimestamp } from './columns.ts';
import { forUpdate } from './dialect.ts';
import { changedRows, firstRow } from './rows.ts';
import type { AppendRow, Db, DeletedSessionRow, ExpiredContentRow } from './schema.ts';

/* What a deletion has removed: counts, and a digest that can be computed again from an earlier copy of the store. */

/** The table with the receipt, for a deleted session or for a session with expired content. */
export type ReceiptTable = 'deleted_sessions' | 'expired_contents';
type ReceiptRow = DeletedSessionRow | ExpiredContentRow;

export type RemovedAppend = Pick<AppendRow, 'first_sequence' | 'last_sequence' | 'body'>;

/** Locks and reads the receipt so far. If a process stops, another one continues the removal. */
export const lockReceipt = <Row extends ReceiptRow = DeletedSessionRow>(
  transaction: Db,
  organizationId: string,
  sessionId: string,
  table: ReceiptTable = 'deleted_sessions',
): Promise<Row | undefined> =>
  firstRow(
    transaction,
    sql<Row>`
      select * from ${sql.table(table)} where organization_id = ${organizationId} and session_id = ${sessionId}
      ${forUpdate(transaction)}`,
  );

/** Adds the next appends of a session to its receipt, which the transaction has locked. */
export async function addToReceipt(
  transaction: Db,
  { organization_id, session_id, digest }: Pick<ReceiptRow, 'organization_id' | 'session_id' | 'digest'>,
  appends: readonly RemovedAppend[],
  table: ReceiptTable = 'deleted_sessions',
): Promise<void> {
  const inOrder = [...appends].sort((one, other) => one.first_sequence - other.first_sequence);
  const after = inOrder.reduce<string | null>((before, { body }) => nextDigest(before, body), digest);
  const events = inOrder.reduce(
    (sum, { first_sequence, last_sequence }) => sum + last_sequence - first_sequence + 1,
    0,
  );
  const bytes = inOrder.reduce((sum, { body }) => sum + body.byteLength, 0);
  await sql`
    update ${sql.table(table)}
    set removed_events = removed_events + ${events}, removed_appends = removed_appends + ${inOrder.length},
      removed_bytes = removed_bytes + ${bytes}, digest = ${after}
    where organization_id = ${organization_id} and session_id = ${session_id}`.execute(transaction);
}

/** SHA-256 of the digest of the previous appends and the stored bytes of this append. */
export const nextDigest = (before: string | null, body: Uint8Array): string =>
  createHash('sha256')
    .update(before === null ? new Uint8Array() : Buffer.from(before, 'hex'))
    .update(body)
    .digest('hex');

/** Records that nothing of the session is left, also in the audit log. */
export async function finishReceipt(
  transaction: Db,
  organizationId: string,
  sessionId: string,
  now: number,
): Promise<void> {
  const changed = await changedRows(
    transaction,
    sql`
      update deleted_sessions set swept_at = ${now}
      where organization_id = ${organizationId} and session_id = ${sessionId} and swept_at is null`,
  );
  const row = changed === 0 ? undefined : await lockReceipt(transaction, organizationId, sessionId);
  // A session that is deleted with its organization needs no entry, and expired sessions share an entry.
  if (!row || row.deleted_by_kind === null) return;
  const { removed_events: events, removed_appends: appends, removed_bytes: bytes, digest } = row;
  const details = {
    ...{ why: whyOf(row), events: Number(events), appends: Number(appends), bytes: Number(bytes) },
    ...(digest === null ? {} : { digest }),
  };
  const happened = { actor: { kind: 'service', id: 'service' }, action: 'session.removed' } as const;
  await recordAction(
    transaction,
    organizationId,
    { ...happened, target: { kind: 'session', id: sessionId }, details },
    now,
  );
}

/** Finds the receipt for the expired content of a session. */
export const findContentReceipt = (db: Db, organizationId: string, sessionId: string) =>
  firstRow(
    db,
    sql<ExpiredContentRow>`
      select * from expired_contents where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );

/** Finds the receipt of a deleted session. */
export const findReceipt = (db: Db, organizationId: string, sessionId: string) =>
  firstRow(
    db,
    sql<DeletedSessionRow>`
      select * from deleted_sessions where organization_id = ${organizationId} and session_id = ${sessionId}`,
  );

export const toReceipt = (row: DeletedSessionRow): DeletionReceipt => ({
  sessionId: row.session_id,
  why: whyOf(row),
  ...(row.deleted_by_kind !== null &&
    row.deleted_by_id !== null && { by: { kind: row.deleted_by_kind, id: row.deleted_by_id } }),
  deletedAt: toTimestamp(row.deleted_at),
  ...removedOf(row),
});

export const toContentReceipt = (row: ExpiredContentRow): DeletionReceipt => ({
  sessionId: row.session_id,
  why: 'policy',
  deletedAt: toTimestamp(row.expired_at),
  ...removedOf(row),
});

const removedOf = (
  row: Pick<ReceiptRow, 'swept_at' | 'removed_events' | 'removed_appends' | 'removed_bytes' | 'digest'>,
) => ({
  ...(row.swept_at !== null && { removedAt: toTimestamp(row.swept_at) }),
  events: Number(row.removed_events),
  appends: Number(row.removed_appends),
  bytes: Number(row.removed_bytes),
  ...(row.digest !== null && { digest: row.digest }),
});

function whyOf({ deleted_by_kind, last_event_at }: DeletedSessionRow): DeletionReceipt['why'] {
  if (last_event_at !== null) return 'expiry';
  if (deleted_by_kind === null) return 'organization';
  return deleted_by_kind === 'person' ? 'person' : 'machine';
}
