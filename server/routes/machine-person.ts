import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { lockEnvironment, toEnvironment } from '../store/environments.ts';
import { assignMachine, claimMachine } from '../store/machine-person.ts';
import { findMember } from '../store/members.ts';
import type { Db, EnvironmentRow, MemberRow } from '../store/schema.ts';
import { found } from './answers.ts';
import { asMember } from './as-member.ts';

export const machinePersonHandlers = ({ store: { db }, now }: Deps) =>
  ({
    async setMachinePerson({ caller, params, body: { userId } }) {
      const row = await asMember(db, caller, async (transaction, member) => {
        const known = await lockEnvironment(transaction, caller.organizationId, params.environmentId);
        const machine = found(known, 'environment');
        if (member.role === 'member') return claim(transaction, machine, member, userId, now());
        if (userId !== null) await assertMember(transaction, machine, userId);
        return assignMachine(transaction, machine, userId, caller.userId, now());
      });
      return { status: 200, body: { environment: toEnvironment(row) } };
    },
  }) satisfies Partial<Handlers>;

async function assertMember(db: Db, { organization_id }: EnvironmentRow, userId: string): Promise<void> {
  const member = await findMember(db, organization_id, userId);
  found(member?.status === 'active' ? member : undefined, 'member');
}

/**
 * A member claims a machine without an owner, or withdraws their claim.
 * @throws Problem `insufficient_role`
 */
async function claim(db: Db, machine: EnvironmentRow, { user_id: own }: MemberRow, wanted: string | null, now: number) {
  if (wanted === own && machine.user_id === own) return machine;
  const isFree = machine.user_id === null && (machine.claimed_by ?? own) === own;
  if (wanted === own && isFree) return claimMachine(db, machine, own, now);
  if (wanted === null && isFree && machine.claimed_by === own) return claimMachine(db, machine, null, now);
  throw new Problem('insufficient_role', whyNot(machine, wanted === own));
}

function whyNot({ user_id }: EnvironmentRow, isForOneself: boolean): string {
  if (!isForOneself) return 'Only an admin or owner may say that a machine is somebody else’s, or nobody’s. Ask one.';
  return user_id === null
    ? 'Another member claims this machine. Ask an admin or owner to decide.'
    : 'This machine is another member’s. Only an admin or owner may give it to you. Ask one.';
}
