import { sql } from 'kysely';
import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { findSender } from './ownership.ts';
import { firstRow } from './rows.ts';
import type { Db, EnvironmentRow, SecretKey } from './schema.ts';
import { giveSessions, markGiven } from './session-rows.ts';

/*
 * The owner of a machine. A host name proves nothing, because any secret may register any host name. A person becomes the owner
 * of a machine without an owner only if an admin let them sign it in. Otherwise only the sessions that they send from there are
 * theirs, because of their secret.
 */

/**
 * Makes the person who signed in with this secret the owner of a machine without an owner. Without the consent of an admin, it
 * only records that the person claims the machine.
 * @returns the machine afterwards
 */
export const adoptMachine = async (db: Db, secret: SecretKey, machine: EnvironmentRow, now: number) => {
  if (machine.user_id !== null || machine.status !== 'active') return machine;
  const { userId, environmentId } = await findSender(db, secret);
  if (userId === null) return machine;
  const isAgreed = environmentId === machine.environment_id;
  if (!isAgreed && machine.claimed_by !== null) return machine;
  return db
    .transaction()
    .execute((transaction) =>
      isAgreed
        ? assignMachine(transaction, machine, userId, userId, now)
        : claimMachine(transaction, machine, userId, now),
    );
};

/**
 * Changes the owner of the machine, of its secrets, and of its sessions without a person. Sessions that it captured for another
 * person stay with that person. Does nothing if the owner is the same, or has changed since the row was read.
 * @returns the machine afterwards
 */
export async function assignMachine(
  transaction: Db,
  machine: EnvironmentRow,
  userId: string | null,
  actorId: string,
  now: number,
): Promise<EnvironmentRow> {
  const { machine: assigned, given } = await assignWithin(transaction, machine, userId, actorId, now);
  await markGiven(transaction, machine.organization_id, given);
  return assigned;
}

/**
 * Does the same for a caller that changes more sessions.
 * @returns also the ids of the sessions that were given to the person, for `markGiven`
 */
export async function assignWithin(
  transaction: Db,
  machine: EnvironmentRow,
  userId: string | null,
  actorId: string,
  now: number,
): Promise<{ machine: EnvironmentRow; given: string[] }> {
  const { organization_id, environment_id, user_id: from, claimed_by } = machine;
  if (from === userId && claimed_by === null) return { machine, given: [] };
  const assigned = await firstRow(
    transaction,
    sql<EnvironmentRow>`
      update environments set user_id = ${userId}, claimed_by = null, updated_at = ${now}
      where organization_id = ${organization_id} and environment_id = ${environment_id}
        and user_id is not distinct from ${from}
      returning *`,
  );
  if (!assigned) return { machine, given: [] };
  // Otherwise the machine would return to its previous owner, and could not delete the sessions that it captures from now on.
  await sql`
    update secrets set user_id = ${userId}
    where organization_id = ${organization_id} and environment_id = ${environment_id} and user_id is not null
    `.execute(transaction);
  const ofNobody = sql`
    organization_id = ${organization_id} and environment_id = ${environment_id} and user_id is null`;
  const given = userId === null ? [] : await giveSessions(transaction, ofNobody, userId);
  const details = { from: from ?? NOBODY, to: userId ?? NOBODY };
  const happened = { actor: person(actorId), action: 'machine.person_changed', target: machineParty(machine) } as const;
  await recordAction(transaction, organization_id, { ...happened, details }, now);
  return { machine: assigned, given };
}

/** Replaces the id of a person in the details of an audit entry. */
const NOBODY = 'nobody';

/**
 * Records that a person claims a machine without an owner, or with null that nobody claims it any more. Does nothing if the
 * machine has an owner by now.
 * @returns the machine afterwards
 */
export async function claimMachine(
  transaction: Db,
  machine: EnvironmentRow,
  userId: string | null,
  now: number,
): Promise<EnvironmentRow> {
  const { organization_id, environment_id, claimed_by } = machine;
  if (claimed_by === userId) return machine;
  const claimed = await firstRow(
    transaction,
    sql<EnvironmentRow>`
      update environments set claimed_by = ${userId}, updated_at = ${now}
      where organization_id = ${organization_id} and environment_id = ${environment_id} and user_id is null
        and claimed_by is not distinct from ${claimed_by}
      returning *`,
  );
  if (!claimed) return machine;
  if (userId !== null) {
    const happened = { actor: person(userId), action: 'machine.claimed', target: machineParty(machine) } as const;
    await recordAction(transaction, organization_id, happened, now);
  }
  return claimed;
}

const machineParty = ({ environment_id }: EnvironmentRow) => ({ kind: 'machine', id: environment_id }) as const;
