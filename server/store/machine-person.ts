import { recordAction } from './audit.ts';
import { person } from './audit-chain.ts';
import type { Db, EnvironmentRow } from './schema.ts';

/*
 * Whose machine it is. A host name proves nothing, since any secret may register under any: a machine that is nobody's
 * becomes a person's only if an admin let them sign it in; what else they send there is theirs, by their secret.
 */

interface Holder {
  organizationId: string;
  secretId: string;
}

/**
 * Gives a machine of nobody to the person who signed it in with this secret. Where no admin agreed, it is noted that they
 * claim it.
 * @returns the machine as it is then
 */
export const adoptMachine = async (db: Db, holder: Holder, machine: EnvironmentRow, now: number) => {
  if (machine.user_id !== null || machine.status !== 'active') return machine;
  const signedIn = await findSignedIn(db, holder);
  if (!signedIn) return machine;
  const isAgreed = signedIn.environment_id === machine.environment_id;
  if (!isAgreed && machine.claimed_by !== null) return machine;
  const change = isAgreed ? giveMachine : claimMachine;
  return (await change(db, machine, signedIn.user_id, now)) ?? machine;
};

/** The person of a secret, and the machine it is bound to. */
async function findSignedIn(db: Db, { organizationId, secretId }: Holder) {
  const row = await db
    .selectFrom('secrets')
    .select(['user_id', 'environment_id'])
    .where('organization_id', '=', organizationId)
    .where('secret_id', '=', secretId)
    .executeTakeFirst();
  return row && row.user_id !== null ? { ...row, user_id: row.user_id } : undefined;
}

type MachineKey = Pick<EnvironmentRow, 'organization_id' | 'environment_id'>;

/** Gives it with its sessions that are nobody's, if it is nobody's still. */
const giveMachine = (db: Db, { organization_id, environment_id }: MachineKey, userId: string, now: number) =>
  db.transaction().execute(async (transaction) => {
    const given = await transaction
      .updateTable('environments')
      .set({ user_id: userId, claimed_by: null, updated_at: now })
      .where('organization_id', '=', organization_id)
      .where('environment_id', '=', environment_id)
      .where('user_id', 'is', null)
      .returningAll()
      .executeTakeFirst();
    if (!given) return undefined;
    await transaction
      .updateTable('sessions')
      .set({ user_id: userId })
      .where('organization_id', '=', organization_id)
      .where('environment_id', '=', environment_id)
      .where('user_id', 'is', null)
      .execute();
    const target = { kind: 'machine', id: environment_id } as const;
    const happened = { actor: person(userId), action: 'machine.person_changed', target } as const;
    await recordAction(transaction, organization_id, { ...happened, details: { to: userId } }, now);
    return given;
  });

const claimMachine = (db: Db, { organization_id, environment_id }: MachineKey, userId: string, now: number) =>
  db
    .updateTable('environments')
    .set({ claimed_by: userId, updated_at: now })
    .where('organization_id', '=', organization_id)
    .where('environment_id', '=', environment_id)
    .where('user_id', 'is', null)
    .where('claimed_by', 'is', null)
    .returningAll()
    .executeTakeFirst();
