import { Problem } from '../../contract/problem.ts';
import { type RetentionBounds, type RetentionRule, wrongWith } from '../../contract/retention.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { readPolicy, replacePolicy } from '../store/policies.ts';
import { countDue } from '../store/retention.ts';
import type { Db } from '../store/schema.ts';
import { asOrganization } from '../store/tenant.ts';
import { asMember } from './as-member.ts';

export const policyHandlers = ({
  store: { db },
  longReads,
  retentionBounds,
  doesRetentionWait,
  endStreams,
  now,
}: Deps) => {
  const shown = () => ({ retentionBounds, ...(doesRetentionWait() && { retentionWaits: true }) });
  return {
    async getPolicy({ caller }) {
      return { status: 200, body: { ...(await readPolicy(db, caller.organizationId)), ...shown() } };
    },

    async replacePolicy({ caller, body }) {
      const policy = await asMember(db, caller, async (transaction, { role }) => {
        if (role !== 'owner') throw ownersOnly();
        assertRight(body.retention ?? [], retentionBounds);
        return replacePolicy(transaction, caller, body, now());
      });
      // The live streams restart with what each member may see from now on.
      await endStreams(caller.organizationId);
      return { status: 200, body: { ...policy, ...shown() } };
    },

    async previewRetention({ caller, body: { retention: rules }, signal }) {
      assertRight(rules, retentionBounds);
      const due = { organizationId: caller.organizationId, rules, bounds: retentionBounds, now: now() };
      // The counts include sessions whose existence the reader may not know.
      const count = async (db: Db) => {
        const facts = await countDue(db, { ...due, field: 'factsDays' });
        const content = await countDue(db, { ...due, field: 'contentDays' });
        return { content: content.due, contentHeld: content.held, facts: facts.due, factsHeld: facts.held };
      };
      const body = await asOrganization(caller.organizationId, () => longReads.run(caller, signal, count));
      return { status: 200, body };
    },
  } satisfies Partial<Handlers>;
};

function assertRight(rules: readonly RetentionRule[], bounds: RetentionBounds): void {
  const wrong = wrongWith(rules, bounds);
  if (wrong) throw new Problem('validation_failed', wrong);
}

const ownersOnly = () => new Problem('insufficient_role', 'Only an owner may change the policy. Ask one.');
