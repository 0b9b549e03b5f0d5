import { sql } from 'kysely';
import type { AuditParty } from '../../contract/audit.ts';
import type { DepartureQuery } from '../../contract/organization.ts';
import { recordAction, recordActions } from '../store/audit.ts';
import { type Happened, person } from '../store/audit-chain.ts';
import { holdOf } from '../store/deletion-sql.ts';
import { forUpdate } from '../store/dialect.ts';
import { assignWithin } from '../store/machine-person.ts';
import { removeMember } from '../store/members.ts';
import { revokeWithin } from '../store/revocation.ts';
import { allRows } from '../store/rows.ts';
import type { Db, EnvironmentRow, MemberKey, MemberRow, PersonDeletionRow } from '../store/schema.ts';
import { giveSessions, markGiven } from '../store/session-rows.ts';
import { endBelongings, type Leaver } from './belongings.ts';
import { assertNoHoldOn } from './holds.ts';

/* The end of a membership, and the fate of the machines and sessions of that person. */

/** Who ends a membership, and what stays valid of that person. */
export interface Departure extends Omit<Leaver, keyof MemberKey> {
  action: 'member.removed' | 'member.left';
}

/** What stays valid, by the query of the request. */
export const kept = ({ secrets, directory }: DepartureQuery) => ({
  keepsSecrets: secrets === 'keep',
  keepsDirectory: directory === 'keep',
});

/**
 * Ends a membership or withdraws an invitation, in a transaction of `changeMembers`.
 * @returns the ids of the revoked secrets
 */
export async function endMembership(
  transaction: Db,
  member: MemberRow,
  { action, ...departure }: Departure,
  now: number,
): Promise<string[]> {
  const { organization_id: organizationId, user_id: userId } = member;
  const { actor } = departure;
  await removeMember(transaction, member);
  const { happened, secretIds } = await endBelongings(transaction, { ...departure, organizationId, userId }, now);
  const departed = action === 'member.left' ? { actor, action, target: person(userId) } : removal(actor, member);
  await recordActions(transaction, organizationId, [departed, ...happened], now);
  return secretIds;
}

/** The audit entry for a removed member. */
export const removal = (actor: AuditParty, { user_id, role, status }: MemberRow): Happened => ({
  actor,
  action: 'member.removed',
  target: person(user_id),
  details: { role, status },
});

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
  const ofNobody: string[] = [];
  for (const machine of await listMachinesOf(transaction, leaving)) {
    ofNobody.push(...(await assignWithin(transaction, machine, to, actorId, now)).given);
  }
  const ofMember = sql`organization_id = ${organizationId} and user_id = ${userId} and visibility = 'team'`;
  const given = await giveSessions(transaction, ofMember, to);
  const happened = { actor: person(actorId), action: 'member.sessions_handed_over', target: person(userId) } as const;
  await recordAction(transaction, organizationId, { ...happened, details: { to, sessions: given.length } }, now);
  await markGiven(transaction, organizationId, [...ofNobody, ...given]);
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
