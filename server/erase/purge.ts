import { sql } from 'kysely';
import { Failures } from '../failures.ts';
import type { SessionKey } from '../log/decide.ts';
import { removeChunks, removeDerived } from '../store/derived-removal.ts';
import { assertReadable } from '../store/events.ts';
import {
  addToReceipt,
  findUnfinished,
  finishRemoval,
  lockRemoval,
  ofRemoved,
  type RemovedAppend,
  type Unfinished,
} from '../store/removals.ts';
import { allRows, firstRow } from '../store/rows.ts';
import type { Db, RemovalRow, SessionRow } from '../store/schema.ts';
import { REMOVED_AFTER_SESSION } from '../store/tables.ts';

/** How many appends one statement removes. Others wait for it less than 20 ms. */
const PURGED_AT_ONCE = 20;
/** How many tombstones one query examines. */
const TOMBSTONES_AT_ONCE = 500;

export interface PurgeOptions {
  signal?: AbortSignal;
  /** Called after each session. */
  onRemoved?: () => void;
  /** Removes the events of a deleted session that are outside the store. If it fails, the next purge repeats it. */
  removeElsewhere?: ((session: SessionKey) => Promise<void>) | undefined;
}

/**
 * Does what the removals say: removes deleted sessions and expired content in slices, one session after the other. It continues
 * where another process stopped, and stops after a slice once the signal is aborted. A session that cannot be removed does not
 * delay the others.
 * @throws what failed, after all other sessions were tried
 */
export async function purgeRemoved(db: Db, now: () => number, options: PurgeOptions = {}): Promise<void> {
  const { signal, onRemoved } = options;
  const failures = new Failures();
  for (
    let row = await findUnfinished(db, '');
    row && !signal?.aborted;
    row = await findUnfinished(db, row.session_id)
  ) {
    const removal = row;
    await failures.try(async () => {
      await purge(db, removal, now(), options);
      onRemoved?.();
    });
  }
  failures.throw();
}

async function purge(
  db: Db,
  { organization_id: organizationId, session_id: sessionId, what }: Unfinished,
  now: number,
  { signal, removeElsewhere }: PurgeOptions,
): Promise<void> {
  const key = { organizationId, sessionId };
  await assertReadable(db, key);
  await removeAppends(db, key, signal);
  if (signal?.aborted) return;
  await REMOVE[what](db, key);
  if (what === 'session') await removeElsewhere?.(key);
  await db.transaction().execute((transaction) => finishRemoval(transaction, key, what, now));
}

/** How the rest of a session or of its content is removed, after its events. */
const REMOVE: Record<RemovalRow['what'], (db: Db, key: SessionKey) => Promise<void>> = {
  async session(db, key) {
    const session = await firstRow(db, sql<SessionRow>`select * from sessions where ${ofRemoved(key)}`);
    if (session) await removeDerived(db, session);
    await sql`delete from sessions where ${ofRemoved(key)}`.execute(db);
    // These rows are removed after the session. While it exists, others may add such rows; afterwards nobody can.
    for (const table of REMOVED_AFTER_SESSION) {
      await sql`delete from ${sql.table(table)} where ${ofRemoved(key)}`.execute(db);
    }
  },
  async content(db, key) {
    await removeChunks(db, { organization_id: key.organizationId, session_id: key.sessionId });
    await sql`delete from stored_bytes where ${ofRemoved(key)}`.execute(db);
  },
};

/** Removes appends of removed sessions. This second pass finds appends that a writer added after the removal. */
export async function purgeOrphans(db: Db, signal?: AbortSignal): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined && !signal?.aborted; ) {
    const tombstones: { session_id: string }[] = await allRows(
      db,
      sql<{ session_id: string }>`
        select session_id from removals where session_id > ${after} and what = 'session'
        order by session_id limit ${TOMBSTONES_AT_ONCE}`,
    );
    const orphans =
      tombstones.length === 0
        ? []
        : await allRows(
            db,
            sql<SessionKey>`
              select distinct appends.organization_id as "organizationId", appends.session_id as "sessionId"
              from appends left join sessions on sessions.session_id = appends.session_id
              where appends.session_id in (${sql.join(tombstones.map(({ session_id }) => session_id))})
                and sessions.session_id is null`,
          );
    for (const key of orphans) await removeAppends(db, key, signal);
    after = tombstones.length < TOMBSTONES_AT_ONCE ? undefined : tombstones.at(-1)?.session_id;
  }
}

async function removeAppends(db: Db, key: SessionKey, signal?: AbortSignal): Promise<void> {
  // Another process may remove the same appends, so that none is removed here although some are left.
  while (!signal?.aborted && ((await removeSomeAppends(db, key)) > 0 || (await hasAppends(db, key))));
}

/**
 * Removes some appends of a session, in the order of their events, and counts them in the receipt in the same transaction.
 * @returns how many it removed; another process may remove appends of the session at the same time
 */
const removeSomeAppends = (db: Db, key: SessionKey): Promise<number> =>
  db.transaction().execute(async (transaction) => {
    // The end of an organization removes the removals, too. What is left then needs no receipt.
    const removal = await lockRemoval(transaction, key);
    const appends = await allRows(
      transaction,
      sql<RemovedAppend>`
        delete from appends
        where ${ofRemoved(key)} and first_sequence in (
          select first_sequence from appends where session_id = ${key.sessionId}
          order by first_sequence limit ${PURGED_AT_ONCE}
        )
        returning first_sequence, last_sequence, body`,
    );
    if (removal && appends.length > 0) await addToReceipt(transaction, removal, appends);
    return appends.length;
  });

const hasAppends = async (db: Db, key: SessionKey): Promise<boolean> =>
  (await firstRow(db, sql`select 1 from appends where ${ofRemoved(key)} limit 1`)) !== undefined;
