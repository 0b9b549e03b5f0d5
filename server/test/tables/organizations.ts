import { expect } from 'vitest';
import { signIn } from '../factories.ts';
import type { Scenario } from '../scenarios.ts';

const named = (name: unknown) => ({ body: { name } });

/** Names that creating and renaming both refuse. */
const WRONG_NAMES: [string, unknown][] = [
  ['no value', undefined],
  ['no characters', ''],
  ['only spaces', ' \t\n '],
  ['201 characters', 'x'.repeat(201)],
  ['a number', 7],
  ['null', null],
  ['a NUL', 'a\u0000b'],
];

const refused = (route: 'createOrganization' | 'renameOrganization'): Scenario[] =>
  WRONG_NAMES.map(([name, value]) => ({
    route,
    name: `a name of ${name}`,
    ask: named(value),
    status: 400,
    code: 'validation_failed',
    says: /^\/name /,
  }));

export const ORGANIZATIONS: readonly Scenario[] = [
  {
    route: 'createOrganization',
    name: 'the founder becomes the owner',
    as: ({ service }) => signIn(service),
    ask: named('  Ünïted Robots & Co.  '),
    status: 201,
    body: () => ({ name: 'Ünïted Robots & Co.', slug: 'united-robots-co', status: 'active' }),
  },
  {
    route: 'createOrganization',
    name: 'a second organization of a name gets another slug',
    as: ({ service }) => signIn(service),
    ask: named('theirs'),
    status: 201,
    body: () => ({ name: 'theirs', slug: expect.stringMatching(/^theirs-[0-9a-f]{8}$/) }),
  },
  {
    route: 'createOrganization',
    name: 'a name without Latin letters gets a generic slug',
    as: ({ service }) => signIn(service),
    ask: named('日本語'),
    status: 201,
    body: () => ({ name: '日本語', slug: expect.stringMatching(/^organization/) }),
  },
  {
    route: 'createOrganization',
    name: 'a person without an e-mail may not found an organization',
    as: ({ service }) => service.identity.token({ subject: 'no-mail' }),
    status: 403,
    code: 'email_unverified',
  },
  {
    route: 'createOrganization',
    name: 'a person with an unverified e-mail may not found an organization',
    as: ({ service }) =>
      service.identity.token({ subject: 'unproven-founder', email: 'unproven@founder.example', emailVerified: false }),
    status: 403,
    code: 'email_unverified',
    says: /verif/,
  },
  ...refused('createOrganization'),
  {
    route: 'createOrganization',
    name: 'a member of an organization may not found another',
    as: ({ ours }) => ours.member,
    status: 409,
    code: 'organization_exists',
  },
  {
    route: 'createOrganization',
    name: 'an invited person belongs to the organization that invited them',
    as: async ({ service, ours }) => {
      const body = { email: 'invited-first@example.com' };
      await service.call('POST', '/v1/organizations/me/members', { as: ours.owner, body });
      return signIn(service, 'invited-first');
    },
    status: 409,
    code: 'organization_exists',
  },
  {
    route: 'createOrganization',
    name: 'if the identity provider fails, the organization is kept and assigned at the next sign-in',
    as: ({ service }) => signIn(service, 'unassigned'),
    ask: named('Kept'),
    identityBroken: true,
    status: 502,
    code: 'idp_assignment_failed',
    async after({ service }) {
      const as = await signIn(service, 'unassigned');
      const told = () => service.identity.assignments.filter(({ subject }) => subject === 'unassigned').length;
      expect(told()).toBe(0);
      const person = await service.call('GET', '/v1/me', { as });
      expect(person.body).toMatchObject({ role: 'owner', organization: { name: 'Kept' } });
      expect(told()).toBe(1);
      await service.call('GET', '/v1/me', { as });
      expect(told()).toBe(1);
    },
  },
  {
    route: 'getOrganization',
    name: 'the answer has no slug',
    status: 200,
    body: ({ ours }) => ({ organizationId: ours.organizationId, status: 'active' }),
  },
  {
    route: 'renameOrganization',
    name: 'spaces around the name are removed',
    ask: named(`  ${'n'.repeat(200)}\n`),
    status: 200,
    body: () => ({ name: 'n'.repeat(200) }),
  },
  {
    route: 'renameOrganization',
    name: 'renaming keeps the slug',
    as: ({ ours }) => ours.owner,
    ask: named('Renamed'),
    status: 200,
    body: ({ ours }) => ({ organizationId: ours.organizationId, name: 'Renamed' }),
    async after({ service, ours }) {
      const { body } = await service.call('GET', '/v1/organizations/me', { as: ours.member });
      expect(body.name).toBe('Renamed');
    },
  },
  ...refused('renameOrganization'),
  {
    route: 'getStorage',
    name: 'the answer counts the stored data, without quotas',
    status: 200,
    after(_, { body }) {
      expect(body.bytes).toBeGreaterThan(0);
      expect(body.bytesAWeek).toBe(body.bytesToday);
      expect(body).not.toHaveProperty('quotaBytes');
    },
  },
];
