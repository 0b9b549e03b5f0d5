import { sql } from 'kysely';
import { Failures } from '../failures.ts';
import type { SessionKey } from '../log/decide.ts';
import { addToReceipt, lockReceipt, type ReceiptTable, type RemovedAppend } from '../store/receipts.ts';
import { allRows } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';

/** How many appends one statement removes. Others wait for it less than 20 ms. */
const SWEPT_AT_ONCE = 20;

/**
 * Sweeps one session after the other until none is left or the signal is aborted. A session that cannot be swept does not stop
 * the sweep of the others.
 * @param findNext finds the first session after an id that must be swept
 * @throws what failed, after all other sessions were tried
 */
export async function sweepEach<Row extends { session_id: string }>(
  findNext: (after: string) => Promise<Row | undefined>,
  sweep: (row: Row) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const failures = new Failures();
  for (let row = await findNext(''); row && !signal?.aborted; row = await findNext(row.session_id)) {
    const swept = row;
    await failures.try(() => sweep(swept));
  }
  failures.throw();
}

/**
 * Removes some appends of a session, in the order of their events, and counts them in the receipt. Without a receipt it removes
 * nothing of expired content, because the deletion of the session has taken over the receipt, and removes the rest.
 * @returns how many it removed; another process may remove appends of the session at the same time
 */
export const removeSomeAppends = (
  db: Db,
  { organizationId, sessionId }: SessionKey,
  table: ReceiptTable,
): Promise<number> =>
  db.transaction().execute(async (transaction) => {
    const receipt = await lockReceipt(transaction, organizationId, sessionId, table);
    if (!receipt && table === 'expired_contents') return 0;
    const appends = await allRows(
      transaction,
      sql<RemovedAppend>`
        delete from appends
        where organization_id = ${organizationId} and session_id = ${sessionId} and first_sequence in (
          select first_sequence from appends where session_id = ${sessionId}
          order by first_sequence limit ${SWEPT_AT_ONCE}
        )
        returning first_sequence, last_sequence, body`,
    );
    if (receipt && appends.length > 0) await addToReceipt(transaction, receipt, appends, table);
    return appends.length;
  });
