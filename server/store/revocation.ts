import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { findEnvironment } from './environments.ts';
import type { Db, EnvironmentRow, SessionRow } from './schema.ts';

/** Open sessions that are closed in one transaction: it takes some 20 ms. */
const CLOSED_AT_ONCE = 500;

/** The person who revokes a machine of their organization. */
export interface Revoker {
  organizationId: string;
  userId: string;
}

/** Revokes the machine, if it is active: from now on no session can be opened on it. */
export const revokeEnvironment = async (
  db: Db,
  revoker: Revoker,
  environmentId: string,
  now: number,
): Promise<EnvironmentRow | undefined> =>
  (await db.transaction().execute((transaction) => revokeWithin(transaction, revoker, environmentId, now))) ??
  findEnvironment(db, revoker.organizationId, environmentId);

/** The same within a transaction. @returns undefined where there is no such active machine */
export async function revokeWithin(
  transaction: Db,
  { organizationId, userId }: Revoker,
  environmentId: string,
  now: number,
): Promise<EnvironmentRow | undefined> {
  const revoked = await markRevoked(transaction, organizationId, environmentId, now);
  if (!revoked) return undefined;
  const target = { kind: 'machine', id: environmentId } as const;
  const happened = { actor: person(userId), action: 'machine.revoked', target } as const;
  await recordAction(transaction, organizationId, happened, now);
  return revoked;
}

const markRevoked = (db: Db, organizationId: string, environmentId: string, now: number) =>
  db
    .updateTable('environments')
    .set({ status: 'revoked', updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'active')
    .returningAll()
    .executeTakeFirst();

/** A revoked machine of any organization that still has open sessions; the first one behind `after`, by its id. */
export const findRevokedWithOpen = (db: Db, after: string): Promise<EnvironmentRow | undefined> =>
  db
    .selectFrom('environments')
    .selectAll()
    .where('status', '=', 'revoked')
    .where('environment_id', '>', after)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('sessions')
          .select('session_id')
          .whereRef('sessions.environment_id', '=', 'environments.environment_id')
          .where('sessions.status', '=', 'active'),
      ),
    )
    .orderBy('environment_id')
    .limit(1)
    .executeTakeFirst();

/**
 * Open sessions of a machine, newest first.
 * @param before the last session of the previous call; undefined: begins with the newest
 * @returns `next` is the last of these sessions if more are left
 */
export async function listOpen(
  db: Db,
  { organization_id, environment_id }: EnvironmentRow,
  before: string | undefined,
): Promise<{ rows: SessionRow[]; next: string | undefined }> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('organization_id', '=', organization_id)
    .where('environment_id', '=', environment_id)
    .where('status', '=', 'active')
    .$if(before !== undefined, (query) => query.where('session_id', '<', String(before)))
    .orderBy('session_id', 'desc')
    .limit(CLOSED_AT_ONCE)
    .execute();
  return { rows, next: rows.length < CLOSED_AT_ONCE ? undefined : rows.at(-1)?.session_id };
}
