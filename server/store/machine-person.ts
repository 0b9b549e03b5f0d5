import { sql } from 'kysely';
import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import { findSender } from './ownership.ts';
import { firstRow } from './rows.ts';
import type { Db, EnvironmentRow, SecretKey } from './schema.ts';

/*
 * Whose machine it is. A host name proves nothing, since any secret may register under any: a machine that is nobody's
 * becomes a person's only if an admin let them sign it in; what else they send there is theirs, by their secret.
 */

/**
 * Gives a machine of nobody to the person who signed it in with this secret. Where no admin agreed, it is noted that they
 * claim it.
 * @returns the machine as it is then
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
 * Says whose the machine is from now on, with its secrets and its sessions that are nobody's; what it captured for another person stays
 * theirs. Does nothing if that is so already, or if it changed hands since the row was read.
 * @returns the machine as it is then
 */
export async function assignMachine(
  transaction: Db,
  machine: EnvironmentRow,
  userId: string | null,
  actorId: string,
  now: number,
): Promise<EnvironmentRow> {
  const { organization_id, environment_id, user_id: from, claimed_by } = machine;
  if (from === userId && claimed_by === null) return machine;
  const assigned = await firstRow(
    transaction,
    sql<EnvironmentRow>`
      update environments set user_id = ${userId}, claimed_by = null, updated_at = ${now}
      where organization_id = ${organization_id} and environment_id = ${environment_id}
        and user_id is not distinct from ${from}
      returning *`,
  );
  if (!assigned) return machine;
  // Otherwise the machine would become its earlier person's again, and could not delete what it captures from now on.
  await sql`
    update secrets set user_id = ${userId}
    where organization_id = ${organization_id} and environment_id = ${environment_id} and user_id is not null
    `.execute(transaction);
  if (userId !== null) {
    await sql`
      update sessions set user_id = ${userId}
      where organization_id = ${organization_id} and environment_id = ${environment_id} and user_id is null
      `.execute(transaction);
  }
  const details = { from: from ?? NOBODY, to: userId ?? NOBODY };
  const happened = { actor: person(actorId), action: 'machine.person_changed', target: machineParty(machine) } as const;
  await recordAction(transaction, organization_id, { ...happened, details }, now);
  return assigned;
}

/** In the details of an entry of the audit log, in place of a person's id. */
const NOBODY = 'nobody';

/**
 * Notes that a person says a machine of nobody is theirs, or with null that nobody does any more; if it is nobody's still.
 * @returns the machine as it is then
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
