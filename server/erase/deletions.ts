import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { SessionKey } from '../log/decide.ts';
import { recordAction } from '../store/audit.ts';
import { removeDerived } from '../store/derived-removal.ts';
import { assertReadable } from '../store/events.ts';
import { finishReceipt } from '../store/receipts.ts';
import { allRows, changedRows, firstRow } from '../store/rows.ts';
import type { Db, DeletedSessionRow, SessionRow } from '../store/schema.ts';
import { REMOVED_AFTER_SESSION } from '../store/tables.ts';
import { handOverReceipt } from './content-expiry.ts';
import { removeSomeAppends, sweepEach } from './sweep.ts';

/** Records that somebody deleted a session that had expired, so that it is not captured again. */
export const forgetExpiry = (
  db: Db,
  { organizationId, sessionId }: SessionKey,
  actor: AuditParty | undefined,
  now: number,
): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    const changed = await changedRows(
      transaction,
      sql`
        update deleted_sessions set last_event_at = null, deleted_by_kind = ${actor?.kind ?? null},
          deleted_by_id = ${actor?.id ?? null}
        where organization_id = ${organizationId} and session_id = ${sessionId} and last_event_at is not null`,
    );
    if (changed === 0 || !actor) return;
    const target = { kind: 'session', id: sessionId } as const;
    await recordAction(transaction, organizationId, { actor, action: 'session.deleted', target }, now);
  });

/** How many tombstones one query examines. */
const TOMBSTONES_AT_ONCE = 500;

export interface SweepOptions {
  signal?: AbortSignal;
  /** Called after each session. */
  onRemoved?: () => void;
  /** Removes the events of a deleted session that are outside the store. If it fails, the next sweep repeats it. */
  removeElsewhere?: ((session: SessionKey) => Promise<void>) | undefined;
}

/**
 * Removes the data of deleted sessions in slices. It continues where another process stopped, and stops after a slice once the
 * signal is aborted.
 * @throws as `sweepEach`
 */
export const sweepDeleted = (db: Db, now: () => number, options: SweepOptions = {}): Promise<void> =>
  sweepEach(
    (after) => findUnswept(db, after),
    async (row) => {
      await sweep(db, row, now(), options);
      options.onRemoved?.();
    },
    options.signal,
  );

const findUnswept = (db: Db, after: string) =>
  firstRow(
    db,
    sql<DeletedSessionRow>`
      select * from deleted_sessions where swept_at is null and session_id > ${after} order by session_id limit 1`,
  );

/** Removes appends of swept sessions. This second pass finds appends that a writer added after the sweep. */
export async function sweepOrphans(db: Db, signal?: AbortSignal): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined && !signal?.aborted; ) {
    const tombstones: { session_id: string }[] = await allRows(
      db,
      sql<{ session_id: string }>`
        select session_id from deleted_sessions where session_id > ${after}
        order by session_id limit ${TOMBSTONES_AT_ONCE}`,
    );
    const orphans =
      tombstones.length === 0
        ? []
        : await allRows(
            db,
            sql<{ organization_id: string; session_id: string }>`
              select distinct appends.organization_id, appends.session_id
              from appends left join sessions on sessions.session_id = appends.session_id
              where appends.session_id in (${sql.join(tombstones.map(({ session_id }) => session_id))})
                and sessions.session_id is null`,
          );
    for (const { organization_id, session_id } of orphans) await removeAppends(db, organization_id, session_id, signal);
    after = tombstones.length < TOMBSTONES_AT_ONCE ? undefined : tombstones.at(-1)?.session_id;
  }
}

async function sweep(
  db: Db,
  row: DeletedSessionRow,
  now: number,
  { signal, removeElsewhere }: SweepOptions,
): Promise<void> {
  const { organization_id: organizationId, session_id: sessionId } = row;
  await assertReadable(db, { organizationId, sessionId });
  await handOverReceipt(db, { organizationId, sessionId });
  await removeAppends(db, organizationId, sessionId, signal);
  if (signal?.aborted) return;
  const mine = sql`organization_id = ${organizationId} and session_id = ${sessionId}`;
  const session = await firstRow(db, sql<SessionRow>`select * from sessions where ${mine}`);
  if (session) await removeDerived(db, session);
  await sql`delete from sessions where ${mine}`.execute(db);
  // These rows are removed after the session. While it exists, others may add such rows; afterwards nobody can.
  for (const table of REMOVED_AFTER_SESSION) {
    await sql`delete from ${sql.table(table)} where ${mine}`.execute(db);
  }
  await removeElsewhere?.({ organizationId, sessionId });
  await db.transaction().execute((transaction) => finishReceipt(transaction, organizationId, sessionId, now));
}

async function removeAppends(db: Db, organizationId: string, sessionId: string, signal?: AbortSignal): Promise<void> {
  // Another process may remove the same appends, so that none is removed here although some are left.
  while (
    !signal?.aborted &&
    ((await removeSomeAppends(db, { organizationId, sessionId }, 'deleted_sessions')) > 0 ||
      (await hasAppends(db, organizationId, sessionId)))
  );
}

const hasAppends = async (db: Db, organizationId: string, sessionId: string): Promise<boolean> =>
  (await firstRow(
    db,
    sql`select 1 from appends where organization_id = ${organizationId} and session_id = ${sessionId} limit 1`,
  )) !== undefined;
