import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../../contract/policy.ts';
import type { Scenario } from '../scenarios.ts';

export const POLICIES: readonly Scenario[] = [
  { route: 'getPolicy', name: 'the defaults, where nobody has set anything', status: 200, body: () => DEFAULT_POLICY },
  {
    route: 'replacePolicy',
    name: 'an owner sets it, and every member sees that',
    as: ({ ours }) => ours.owner,
    ask: { body: { signIn: 'admins' } },
    status: 200,
    body: () => ({ ...DEFAULT_POLICY, signIn: 'admins' }),
    async after({ service, ours, theirs }, { body }) {
      const read = async (as: string) => (await service.call('GET', '/v1/organizations/me/policy', { as })).body;
      expect(await read(ours.member)).toEqual(body);
      expect(await read(theirs.member)).toEqual(DEFAULT_POLICY);
    },
  },
  {
    route: 'replacePolicy',
    name: 'what is left out, or not known, is as if it was never set',
    as: ({ ours }) => ours.owner,
    ask: { body: { colour: 'x'.repeat(100) } },
    status: 200,
    async after({ service, ours }, { body }) {
      expect(body).toEqual(DEFAULT_POLICY);
      const rows = await service.store.db.selectFrom('policies').selectAll().execute();
      expect(rows).toMatchObject([{ organization_id: ours.organizationId, policy: '{}' }]);
    },
  },
  {
    route: 'replacePolicy',
    name: 'by an admin',
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
];
