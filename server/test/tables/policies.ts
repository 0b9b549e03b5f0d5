import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../../contract/policy.ts';
import type { Scenario } from '../scenarios.ts';

/** The answer if nothing is set: the service of these tests has no bounds. */
const SHOWN = { ...DEFAULT_POLICY, retentionBounds: {} };
const forAll = { kind: 'organization' };
const WRONG_RULES = [
  [{ target: { kind: 'plane' }, contentDays: 1 }],
  [{ target: { kind: 'plane', id: 'other' }, contentDays: 1 }],
  [{ target: { kind: 'organization', id: 'live' }, contentDays: 1 }],
  [
    { target: forAll, contentDays: 1 },
    { target: forAll, factsDays: 2 },
  ],
  [{ target: forAll, contentDays: 0 }],
];

export const POLICIES: readonly Scenario[] = [
  {
    route: 'listRepositories',
    name: 'a member sees the repositories of the organization',
    as: ({ ours }) => ours.member,
    status: 200,
    body: () => ({ repositories: [] }),
  },
  { route: 'getPolicy', name: 'the answer has the defaults if nothing was set', status: 200, body: () => SHOWN },
  {
    route: 'replacePolicy',
    name: 'every member sees the policy that an owner sets',
    as: ({ ours }) => ours.owner,
    ask: { body: { signIn: 'admins' } },
    status: 200,
    body: () => ({ ...SHOWN, signIn: 'admins' }),
    async after({ service, ours, theirs }, { body }) {
      const read = async (as: string) => (await service.call('GET', '/v1/organizations/me/policy', { as })).body;
      expect(await read(ours.member)).toEqual(body);
      expect(await read(theirs.member)).toEqual(SHOWN);
    },
  },
  {
    route: 'replacePolicy',
    name: 'fields that are left out or unknown count as unset',
    as: ({ ours }) => ours.owner,
    ask: { body: { colour: 'x'.repeat(100) } },
    status: 200,
    async after({ service, ours }, { body }) {
      expect(body).toEqual(SHOWN);
      const rows = await service.store.db.selectFrom('policies').selectAll().execute();
      expect(rows).toMatchObject([{ organization_id: ours.organizationId, policy: '{}' }]);
    },
  },
  {
    route: 'replacePolicy',
    name: 'an admin is refused',
    as: ({ ours }) => ours.admin,
    status: 403,
    code: 'insufficient_role',
    says: /^Only an owner /,
  },
  ...[{ signIn: 'everybody' }, { signIn: null }, { smallestGroup: 1 }, { smallestGroup: '5' }, []].map(
    (body): Scenario => ({
      route: 'replacePolicy',
      name: JSON.stringify(body),
      as: ({ ours }) => ours.owner,
      ask: { body },
      status: 400,
      code: 'validation_failed',
    }),
  ),
  ...WRONG_RULES.map(
    (retention): Scenario => ({
      route: 'replacePolicy',
      name: `the retention ${JSON.stringify(retention)}`,
      as: ({ ours }) => ours.owner,
      ask: { body: { retention } },
      status: 400,
      code: 'validation_failed',
    }),
  ),
  {
    route: 'previewRetention',
    name: 'no session is over its time',
    as: ({ ours }) => ours.admin,
    ask: { body: { retention: [{ target: forAll, contentDays: 30 }] } },
    status: 200,
    body: () => ({ content: 0, contentHeld: 0, facts: 0, factsHeld: 0 }),
  },
  {
    route: 'previewRetention',
    name: 'a rule with an invalid number of days',
    as: ({ ours }) => ours.admin,
    ask: { body: { retention: [{ target: forAll, contentDays: 0 }] } },
    status: 400,
    code: 'validation_failed',
  },
  {
    route: 'previewRetention',
    name: 'a member is refused',
    as: ({ ours }) => ours.member,
    ask: { body: { retention: [] } },
    status: 403,
    code: 'insufficient_role',
  },
];
