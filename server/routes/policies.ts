import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { readPolicy, replacePolicy } from '../store/policies.ts';
import { asMember } from './as-member.ts';

export const policyHandlers = ({ store: { db }, memberLeft, now }: Deps) =>
  ({
    async getPolicy({ caller }) {
      return { status: 200, body: await readPolicy(db, caller.organizationId) };
    },

    async replacePolicy({ caller, body }) {
      const policy = await asMember(db, caller, async (transaction, { role }) => {
        if (role !== 'owner') throw ownersOnly();
        return replacePolicy(transaction, caller, body, now());
      });
      // Their live streams begin anew, with what each may see from now on.
      await memberLeft(caller.organizationId);
      return { status: 200, body: policy };
    },
  }) satisfies Partial<Handlers>;

const ownersOnly = () => new Problem('insufficient_role', 'Only an owner may change the policy. Ask one.');
