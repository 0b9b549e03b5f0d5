import { Problem } from '../../contract/problem.ts';
import type { Plane } from '../../contract/secret.ts';
import { removeDerived } from './derived-removal.ts';
import type { Db } from './open.ts';
import type { Unchanged } from './retention.ts';
import type { DeletedSessionRow, SessionRow } from './schema.ts';

/** A session named by its id, or by the key its client knows it under. */
export type Named = { organizationId: string } & ({ sessionId: string } | { plane: Plane; clientKey: string });

/**
 * Marks the session as deleted: from now on nobody sees it, it takes no events, and its key is remembered. A deleted one
 * stays as it is.
 * @returns the session as it was; undefined when it was deleted before
 * @throws Problem `not_found`
 */
export function deleteSession(db: Db, named: Named, now: number): Promise<{ sessionId: string; row?: SessionRow }> {
  return db.transaction().execute(async (transaction) => {
    const row = await mark(transaction, named, now);
    return row ? { sessionId: row.session_id, row } : { sessionId: await findDeleted(transaction, named) };
  });
}

/**
 * The same for a session that has so many events still; one to which something came meanwhile stays.
 * @returns the session as it was; undefined when it stays, or was deleted before
 */
export const expireSession = (
  db: Db,
  { eventCount, ...named }: Unchanged,
  now: number,
): Promise<SessionRow | undefined> =>
  db.transaction().execute((transaction) => mark(transaction, named, now, eventCount));

async function mark(transaction: Db, named: Named, now: number, eventCount?: number): Promise<SessionRow | undefined> {
  const { organizationId } = named;
  const marked = transaction
    .updateTable('sessions')
    .set({ deleted_at: now })
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .$if(eventCount !== undefined, (query) => query.where('event_count', '=', Number(eventCount)));
  const row = await ('sessionId' in named
    ? marked.where('session_id', '=', named.sessionId)
    : marked.where('plane', '=', named.plane).where('client_key', '=', named.clientKey)
  )
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  const { session_id, plane, client_key } = row;
  await transaction
    .updateTable('sessions')
    .set({ status: 'failed' })
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', session_id)
    .where('status', '=', 'active')
    .execute();
  await transaction
    .insertInto('deleted_sessions')
    .values({ session_id, organization_id: organizationId, plane, client_key, deleted_at: now, swept_at: null })
    .execute();
  return row;
}

async function findDeleted(db: Db, named: Named): Promise<string> {
  const known = db
    .selectFrom('deleted_sessions')
    .select('session_id')
    .where('organization_id', '=', named.organizationId);
  const row = await ('sessionId' in named
    ? known.where('session_id', '=', named.sessionId)
    : known.where('plane', '=', named.plane).where('client_key', '=', named.clientKey)
  ).executeTakeFirst();
  if (!row) throw new Problem('not_found', 'No such session in this organization.');
  return row.session_id;
}

export const wasDeleted = async (db: Db, organizationId: string, plane: Plane, sessionId: string): Promise<boolean> =>
  (await db
    .selectFrom('deleted_sessions')
    .select('session_id')
    .where('organization_id', '=', organizationId)
    .where('plane', '=', plane)
    .where('session_id', '=', sessionId)
    .executeTakeFirst()) !== undefined;

/** Appends that one statement deletes: others wait for less than 20 ms. */
const SWEPT_AT_ONCE = 20;
/** Tombstones that one query looks at. */
const TOMBSTONES_AT_ONCE = 500;

/**
 * Removes what deleted sessions have left, a slice at a time; goes on where another process stopped, and stops after a
 * slice once the signal is aborted. A session that cannot be removed does not keep the ones behind it. `onRemoved` is called
 * after each session.
 * @throws the first error, after all other sessions were removed
 */
export async function sweepDeleted(
  db: Db,
  now: () => number,
  signal?: AbortSignal,
  onRemoved?: () => void,
): Promise<void> {
  let failure: { error: unknown } | undefined;
  for (let row = await findUnswept(db, ''); row && !signal?.aborted; row = await findUnswept(db, row.session_id)) {
    try {
      await sweep(db, row, now(), signal);
      onRemoved?.();
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure) throw failure.error;
}

const findUnswept = (db: Db, after: string) =>
  db
    .selectFrom('deleted_sessions')
    .selectAll()
    .where('swept_at', 'is', null)
    .where('session_id', '>', after)
    .orderBy('session_id')
    .limit(1)
    .executeTakeFirst();

/** Removes appends that are there although their session was swept: a second look, in case something wrote behind the first. */
export async function sweepOrphans(db: Db, signal?: AbortSignal): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined && !signal?.aborted; ) {
    const tombstones: { session_id: string }[] = await db
      .selectFrom('deleted_sessions')
      .select('session_id')
      .where('session_id', '>', after)
      .orderBy('session_id')
      .limit(TOMBSTONES_AT_ONCE)
      .execute();
    const orphans =
      tombstones.length === 0
        ? []
        : await db
            .selectFrom('appends')
            .leftJoin('sessions', 'sessions.session_id', 'appends.session_id')
            .select(['appends.organization_id', 'appends.session_id'])
            .distinct()
            .where(
              'appends.session_id',
              'in',
              tombstones.map(({ session_id }) => session_id),
            )
            .where('sessions.session_id', 'is', null)
            .execute();
    for (const { organization_id, session_id } of orphans) await removeAppends(db, organization_id, session_id, signal);
    after = tombstones.length < TOMBSTONES_AT_ONCE ? undefined : tombstones.at(-1)?.session_id;
  }
}

async function sweep(db: Db, row: DeletedSessionRow, now: number, signal?: AbortSignal): Promise<void> {
  const { organization_id: organizationId, session_id: sessionId } = row;
  await removeAppends(db, organizationId, sessionId, signal);
  if (signal?.aborted) return;
  await db
    .deleteFrom('stored_bytes')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .execute();
  const mine = db.selectFrom('sessions').selectAll().where('organization_id', '=', organizationId);
  const session = await mine.where('session_id', '=', sessionId).executeTakeFirst();
  if (session) await removeDerived(db, session);
  await db
    .deleteFrom('sessions')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .execute();
  await db
    .updateTable('deleted_sessions')
    .set({ swept_at: now })
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .execute();
}

async function removeAppends(db: Db, organizationId: string, sessionId: string, signal?: AbortSignal): Promise<void> {
  for (let gone = SWEPT_AT_ONCE; gone === SWEPT_AT_ONCE && !signal?.aborted; ) {
    const { numDeletedRows } = await db
      .deleteFrom('appends')
      .where('organization_id', '=', organizationId)
      .where('session_id', '=', sessionId)
      .where('first_sequence', 'in', (query) =>
        query
          .selectFrom('appends')
          .select('first_sequence')
          .where('session_id', '=', sessionId)
          .orderBy('first_sequence')
          .limit(SWEPT_AT_ONCE),
      )
      .executeTakeFirst();
    gone = Number(numDeletedRows);
  }
}
