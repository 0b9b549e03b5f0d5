import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { findMember } from '../store/members.ts';
import { changeMembers } from '../store/organizations.ts';
import { readPolicy, replacePolicy } from '../store/policies.ts';

export const policyHandlers = ({ store: { db }, now }: Deps) =>
  ({
    async getPolicy({ caller }) {
      return { status: 200, body: await readPolicy(db, caller.organizationId) };
    },

    async replacePolicy({ caller, body }) {
      const { organizationId, userId } = caller;
      const policy = await changeMembers(db, organizationId, async (members) => {
        const member = await findMember(members, organizationId, userId);
        if (member?.role !== 'owner') throw ownersOnly();
        return replacePolicy(members, caller, body, now());
      });
      return { status: 200, body: policy };
    },
  }) satisfies Partial<Handlers>;

const ownersOnly = () => new Problem('insufficient_role', 'Only an owner may change the policy. Ask one.');
