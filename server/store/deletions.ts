import type { Plane } from '../../contract/secret.ts';
import type { SessionKey } from '../log/decide.ts';
import { removeDerived } from './derived-removal.ts';
import type { Db, DeletedSessionRow } from './schema.ts';

/** Notes that a person has deleted a session that had expired: nothing more of it is to be captured. */
export async function forgetExpiry(db: Db, { organizationId, sessionId }: SessionKey): Promise<void> {
  await db
    .updateTable('deleted_sessions')
    .set({ last_event_at: null })
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .where('last_event_at', 'is not', null)
    .execute();
}

/** What is left of the deleted session that was captured under the key. */
export const findDeleted = (db: Db, organizationId: string, plane: Plane, clientKey: string) =>
  db
    .selectFrom('deleted_sessions')
    .select(['session_id', 'environment_id', 'last_event_at'])
    .where('organization_id', '=', organizationId)
    .where('plane', '=', plane)
    .where('client_key', '=', clientKey)
    .executeTakeFirst();

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
 * Removes the data of deleted sessions in slices; continues where another process stopped, and stops after a
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
  for (let isLeft = true; isLeft && !signal?.aborted; ) {
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
    // Fewer may be gone than were chosen, where another process removes the same ones.
    isLeft = Number(numDeletedRows) === SWEPT_AT_ONCE || (await hasAppends(db, organizationId, sessionId));
  }
}

const hasAppends = async (db: Db, organizationId: string, sessionId: string): Promise<boolean> =>
  (await db
    .selectFrom('appends')
    .select('first_sequence')
    .where('organization_id', '=', organizationId)
    .where('session_id', '=', sessionId)
    .limit(1)
    .executeTakeFirst()) !== undefined;
