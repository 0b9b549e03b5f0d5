import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import { recordAction, recordActions } from './audit.ts';
import { type Happened, person, secret } from './audit-chain.ts';
import { holdOf } from './deletion-sql.ts';
import { forUpdate } from './dialect.ts';
import { assertNoHoldOn } from './holds.ts';
import { assignMachine } from './machine-person.ts';
import { removeMember } from './members.ts';
import { revokeWithin } from './revocation.ts';
import { allRows, changedRows } from './rows.ts';
import type { Db, EnvironmentRow, MemberKey, MemberRow } from './schema.ts';
import type { PersonDeletionRow } from './schema-governance.ts';
import { revokeSecrets } from './secrets.ts';
import { revokeSharesOf } from './shares.ts';

/* The end of a membership, and the fate of the machines and sessions of that person. */

/** Who ends a membership, and whether the secrets that the person issued or has on their machines stay active. */
export interface Departure {
  actor: AuditParty;
  keepsSecrets: boolean;
  action: 'member.removed' | 'member.left';
}

/**
 * Ends a membership or withdraws an invitation, in a transaction of `changeMembers`.
 * @returns the ids of the revoked secrets
 */
export async function endMembership(
  transaction: Db,
  member: MemberRow,
  { actor, keepsSecrets, action }: Departure,
  now: number,
): Promise<string[]> {
  const { organization_id, user_id } = member;
  await removeMember(transaction, member);
  const revoked = keepsSecrets ? [] : await revokeSecrets(transaction, organization_id, now, user_id);
  const unshared = await revokeSharesOf(transaction, organization_id, user_id, actor, now);
  const departed = action === 'member.left' ? { actor, action, target: person(user_id) } : removal(actor, member);
  const happened = [departed, ...revocations(actor, revoked), ...unshared];
  await recordActions(transaction, organization_id, happened, now);
  return revoked;
}

/** The audit entry for a removed member. */
export const removal = (actor: AuditParty, { user_id, role, status }: MemberRow): Happened => ({
  actor,
  action: 'member.removed',
  target: person(user_id),
  details: { role, status },
});

/** The audit entries for secrets that were revoked together. */
const revocations = (actor: AuditParty, secretIds: readonly string[]): Happened[] =>
  secretIds.map((secretId) => ({ actor, action: 'secret.revoked', target: secret(secretId) }));

/** A member who is being removed, and the admin who removes them. */
export interface Leaving extends MemberKey {
  actorId: string;
}

/**
 * Gives the machines and sessions of the member to another member, in the transaction that removes the first one. Private
 * sessions keep the id of the removed member, so that the removal does not show them to anybody else.
 * @throws Problem `held`
 */
export async function handOver(transaction: Db, leaving: Leaving, to: string, now: number): Promise<void> {
  const { organizationId, userId, actorId } = leaving;
  // A hold on the person would no longer protect the sessions afterwards.
  await assertNoHoldOn(transaction, leaving, false);
  for (const machine of await listMachinesOf(transaction, leaving)) {
    await assignMachine(transaction, machine, to, actorId, now);
  }
  const sessions = await changedRows(
    transaction,
    sql`
      update sessions set user_id = ${to}
      where organization_id = ${organizationId} and user_id = ${userId} and visibility = 'team'`,
  );
  const happened = { actor: person(actorId), action: 'member.sessions_handed_over', target: person(userId) } as const;
  await recordAction(transaction, organizationId, { ...happened, details: { to, sessions } }, now);
}

/**
 * Revokes the machines of the member, and stores the request to delete their existing sessions, in the transaction that removes
 * the member. `deleteSessionsOfRemoved` deletes the sessions afterwards, and held sessions once their hold is released.
 * @throws Problem `held`
 */
export async function discard(transaction: Db, leaving: Leaving, now: number): Promise<void> {
  const { organizationId, userId, actorId } = leaving;
  await assertNoHoldOn(transaction, leaving, true);
  const revoker = { organizationId, userId: actorId };
  for (const { environment_id } of await listMachinesOf(transaction, leaving)) {
    await revokeWithin(transaction, revoker, environment_id, now);
  }
  await sql`
    insert into person_deletions (organization_id, user_id, actor_id, requested_at)
    values (${organizationId}, ${userId}, ${actorId}, ${now})
    on conflict (organization_id, user_id) do update
    set actor_id = excluded.actor_id, requested_at = excluded.requested_at`.execute(transaction);
  const happened = { actor: person(actorId), action: 'member.sessions_deleted', target: person(userId) } as const;
  await recordAction(transaction, organizationId, happened, now);
}

const listMachinesOf = (transaction: Db, { organizationId, userId }: Leaving) =>
  allRows(
    transaction,
    sql<EnvironmentRow>`
      select * from environments where organization_id = ${organizationId} and user_id = ${userId}
      order by environment_id ${forUpdate(transaction)}`,
  );

export const listPersonDeletions = (db: Db) =>
  allRows(db, sql<PersonDeletionRow>`select * from person_deletions order by organization_id, user_id`);

/** Lists some of the sessions that must be deleted and are not held, after the last session of the previous call. */
export async function listSessionsToDelete(
  db: Db,
  { organization_id, user_id, requested_at }: PersonDeletionRow,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await allRows(
    db,
    sql<{ session_id: string }>`
      select session_id from sessions
      where organization_id = ${organization_id} and user_id = ${user_id} and session_id > ${after}
        and created_at <= ${requested_at} and deleted_at is null and ${sql.raw(holdOf('sessions'))} is null
      order by session_id limit ${limit}`,
  );
  return rows.map(({ session_id }) => session_id);
}

/** Ends the request once all its sessions are deleted, unless a newer request for the same person exists. */
export const endPersonDeletion = (db: Db, { organization_id, user_id, requested_at }: PersonDeletionRow) =>
  sql`
    delete from person_deletions
    where organization_id = ${organization_id} and user_id = ${user_id} and requested_at = ${requested_at}
      and not exists (
        select 1 from sessions
        where organization_id = ${organization_id} and user_id = ${user_id} and created_at <= ${requested_at}
          and deleted_at is null)`.execute(db);
