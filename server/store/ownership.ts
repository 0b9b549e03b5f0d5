import { sql } from 'kysely';
import type { Plane } from '../../contract/secret.ts';
import type { SessionKey } from '../log/decide.ts';
import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { changedRows, firstRow } from './rows.ts';
import type { Db, MemberKey, RemovalRow, SecretKey, SecretRow, SessionRow } from './schema.ts';

/** The sender of a request with a secret. */
export interface Sender {
  secretId: string;
  /** The machine of the secret; null if the secret never registered a new machine. */
  environmentId: string | null;
  /** The person who signed in with it; null for a plain secret. */
  userId: string | null;
}

/** How long a secret proves that its holder opened a session. It is limited because secrets are copied and shared. */
const SAME_SECRET_MS = 24 * 3_600_000;

export async function findSender(db: Db, { organizationId, secretId }: SecretKey): Promise<Sender> {
  const row = await firstRow(
    db,
    sql<Pick<SecretRow, 'environment_id' | 'user_id'>>`
      select environment_id, user_id from secrets
      where organization_id = ${organizationId} and secret_id = ${secretId}`,
  );
  return { secretId, environmentId: row?.environment_id ?? null, userId: row?.user_id ?? null };
}

/**
 * Binds the secret for good to the first machine that was registered with it. A sender may claim any host name, but only one
 * sender can register it first.
 */
export const bindSecret = (db: Db, { organizationId, secretId }: SecretKey, environmentId: string) =>
  sql`
    update secrets set environment_id = ${environmentId}
    where organization_id = ${organizationId} and secret_id = ${secretId} and environment_id is null`.execute(db);

/**
 * Whether the sender's machine or person captured the session, so that the sender may read more of it than others. A secret
 * alone proves this only for a session that everybody may read, because several machines may share a secret that is bound to one
 * of them.
 */
export const isOwn = (row: SessionRow, sender: Sender): boolean =>
  isOfPerson(row, sender) || isOfMachine(row, sender) || (row.visibility === 'team' && isOfSecret(row, sender));

/** Whether a new session of the sender must be as strict as this parent. The sender learns nothing else about the parent. */
export const mayInheritFrom = (row: SessionRow, sender: Sender): boolean =>
  isOfSecret(row, sender) || isOwn(row, sender);

/** The columns that decide whether a secret may write to a session. */
export type Written = Pick<SessionRow, 'session_id' | 'organization_id' | 'environment_id' | 'user_id' | 'secret_id'>;

/** Finds a session even while it is being deleted, or its tombstone, so that its machine learns that it was deleted. */
export const findWritten = (db: Db, { organizationId, sessionId }: SessionKey): Promise<Written | undefined> =>
  firstRow(
    db,
    sql<Written>`
      select session_id, organization_id, environment_id, user_id, secret_id from sessions
      where organization_id = ${organizationId} and session_id = ${sessionId}
      union all
      select session_id, organization_id, environment_id, null, null from removals
      where organization_id = ${organizationId} and session_id = ${sessionId} and what = 'session' limit 1`,
  );

/** Whether a machine may write to the session: it or another machine of its person captured it, or its secret opened it. */
export const mayWrite = (row: Written, sender: Sender): boolean =>
  isOfPerson(row, sender) || isOfMachine(row, sender) || isOfSecret(row, sender);

const isOfSecret = ({ secret_id }: Pick<SessionRow, 'secret_id'>, { secretId }: Sender) => secret_id === secretId;

const isOfPerson = ({ user_id }: Pick<SessionRow, 'user_id'>, { userId }: Sender) =>
  userId !== null && user_id === userId;

/** Whether the sender may delete the session without being an admin. */
export const mayDelete = (row: SessionRow, sender: Sender, now: number): boolean =>
  isOfMachine(row, sender) || (isOfSecret(row, sender) && now - row.created_at < SAME_SECRET_MS);

/** Whether the sender may hide the session from others: a sender who may delete it, or any machine of its person. */
export const mayRestrict = (row: SessionRow, sender: Sender, now: number): boolean =>
  isOfPerson(row, sender) || mayDelete(row, sender, now);

/**
 * Whether the sender may delete an already deleted session. An expired session is still captured until somebody deletes it, so
 * only its machine may do that.
 */
export const mayDeleteAgain = (
  tombstone: Pick<RemovalRow, 'environment_id' | 'last_event_at'>,
  sender: Sender,
): boolean => tombstone.last_event_at === null || isOfMachine(tombstone, sender);

/** A machine with a new owner proves nothing about the sessions of its previous owner. */
const isOfMachine = (row: Pick<SessionRow, 'environment_id'> & Partial<SessionRow>, sender: Sender) => {
  const person = row.user_id ?? null;
  const mayBeTheirs = person === null || sender.userId === null || person === sender.userId;
  return sender.environmentId !== null && row.environment_id === sender.environmentId && mayBeTheirs;
};

/** Finds the session with that client key, unless it is deleted. */
export const findCaptured = (db: Db, organizationId: string, plane: Plane, clientKey: string) =>
  firstRow(
    db,
    sql<SessionRow>`
      select * from sessions
      where organization_id = ${organizationId} and plane = ${plane} and client_key = ${clientKey}
        and deleted_at is null`,
  );

/** Finds the tombstone of the deleted session with that client key. */
export const findDeleted = (db: Db, organizationId: string, plane: Plane, clientKey: string) =>
  firstRow(
    db,
    sql<RemovalRow>`
      select * from removals
      where organization_id = ${organizationId} and plane = ${plane} and client_key = ${clientKey} and what = 'session'`,
  );

/**
 * Removes the client key of a deleted session, so that it may be captured again. Appends to the deleted session stay refused.
 * @returns false if the organization has no such deleted session
 */
export const forgetDeletion = (
  db: Db,
  { organizationId, userId }: MemberKey,
  sessionId: string,
  now: number,
): Promise<boolean> =>
  db.transaction().execute(async (transaction) => {
    const mine = sql`organization_id = ${organizationId} and session_id = ${sessionId}`;
    const forgotten = await changedRows(
      transaction,
      sql`update removals set client_key = null where ${mine} and what = 'session'`,
    );
    // The row of the session has the key, too, until the row is removed.
    await sql`update sessions set client_key = null where ${mine} and deleted_at is not null`.execute(transaction);
    if (forgotten === 0) return false;
    const target = { kind: 'session', id: sessionId } as const;
    const happened = { actor: person(userId), action: 'session.deletion_forgotten', target } as const;
    await recordAction(transaction, organizationId, happened, now);
    return true;
  });
