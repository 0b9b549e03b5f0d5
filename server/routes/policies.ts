import { Problem } from '../../contract/problem.ts';
import { type RetentionBounds, type RetentionRule, wrongWith } from '../../contract/retention.ts';
import type { Deps } from '../deps.ts';
import { countDue, countOfTarget } from '../erase/due-sessions.ts';
import type { Handlers } from '../http/handler.ts';
import { readPolicy, replacePolicy } from '../store/policies.ts';
import { findRepository, listRepositories, wholeForm } from '../store/repositories.ts';
import type { Db } from '../store/schema.ts';
import { asOrganization } from '../store/tenant.ts';
import { type Viewer, viewerOf } from '../store/viewer.ts';
import { asMember } from './as-member.ts';

export const policyHandlers = ({
  store: { db },
  longReads,
  retentionBounds,
  doesRetentionWait,
  changes,
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
        const viewer = await viewerOf(transaction, { ...caller, role });
        const retention = await resolve(transaction, viewer, body.retention ?? []);
        assertRight(retention, retentionBounds);
        return replacePolicy(transaction, caller, { ...body, ...(body.retention && { retention }) }, now());
      });
      // The live streams restart with what each member may see from now on.
      await changes.endStreams(caller.organizationId);
      return { status: 200, body: { ...policy, ...shown() } };
    },

    async listRepositories({ caller, signal }) {
      const viewer = await viewerOf(db, caller);
      const repositories = await longReads.run(caller, signal, (db) => listRepositories(db, viewer));
      return { status: 200, body: { repositories } };
    },

    async previewRetention({ caller, body, signal }) {
      const { organizationId } = caller;
      const viewer = await viewerOf(db, caller);
      // The counts include sessions whose existence the reader may not know.
      const count = async (db: Db) => {
        const rules = await resolve(db, viewer, body.retention);
        assertRight(rules, retentionBounds);
        const due = { organizationId, rules, bounds: retentionBounds, now: now() };
        const facts = await countDue(db, { ...due, field: 'factsDays' });
        const content = await countDue(db, { ...due, field: 'contentDays' });
        const counted = await Promise.all(
          rules.map(async ({ target }) => ({ target, sessions: await countOfTarget(db, viewer, target) })),
        );
        return {
          rules: counted,
          ...{ content: content.due, contentHeld: content.held, facts: facts.due, factsHeld: facts.held },
        };
      };
      const preview = await asOrganization(organizationId, () => longReads.run(caller, signal, count));
      return { status: 200, body: preview };
    },
  } satisfies Partial<Handlers>;
};

/**
 * The rules with each repository in the form that its sessions have. A rule may also wait for a repository without sessions, if its
 * address is complete.
 * @throws Problem `validation_failed` for an unknown or ambiguous repository
 */
const resolve = (db: Db, viewer: Viewer, rules: readonly RetentionRule[]): Promise<RetentionRule[]> =>
  Promise.all(
    rules.map(async (rule) => {
      const { kind, id } = rule.target;
      if (kind !== 'repository' || id === undefined) return rule;
      const found = (await findRepository(db, viewer, id)) ?? wholeForm(id);
      if (found === undefined) throw unknownRepository(id);
      return { ...rule, target: { kind, id: found } };
    }),
  );

const unknownRepository = (text: string) =>
  new Problem(
    'validation_failed',
    `No session has a repository called ${text}. Choose one of the list, or write its whole address, such as github.com/owner/name.`,
  );

function assertRight(rules: readonly RetentionRule[], bounds: RetentionBounds): void {
  const wrong = wrongWith(rules, bounds);
  if (wrong) throw new Problem('validation_failed', wrong);
}

const ownersOnly = () => new Problem('insufficient_role', 'Only an owner may change the policy. Ask one.');
