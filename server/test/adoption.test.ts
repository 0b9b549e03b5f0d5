import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, signIn, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

/** Sign-ins of the same people at another provider, which has its own subjects. */
const MOVED = { issuer: 'https://other.example.com' };

describe.each(ENGINES)('after a change of the identity provider on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  let count = 0;
  beforeAll(async () => {
    service = await startTestService(engine);
  });
  beforeEach(async () => {
    service.identity.claims = {};
    tenant = await createTenant(service, `moving-${++count}`);
    await me(tenant.member);
  });
  afterAll(() => service.close());

  const me = async (as: string) => (await service.call('GET', '/v1/me', { as })).body;
  const email = (role: string) => `moving-${count}-${role}@example.com`;
  const there = (role: string, change: object = {}) =>
    service.identity.token({ subject: `there-${count}-${role}`, email: email(role), ...change });

  test('members keep their id, role and organization if the operator allows adoption', async () => {
    const before = { owner: await me(tenant.owner), member: await me(tenant.member) };
    service.identity.claims = { ...MOVED, adoptsMembers: true };
    expect(await me(await there('owner'))).toEqual(before.owner);
    const replies = await Promise.all(Array.from({ length: 8 }, async () => me(await there('member'))));
    for (const reply of replies) expect(reply).toEqual(before.member);
    service.identity.claims = {};
    expect(await me(tenant.owner)).not.toHaveProperty('organization');
    service.identity.claims = { adoptsMembers: true };
    expect(await me(tenant.owner)).toEqual(before.owner);
  });

  test("the new provider gets the owner's organization exactly once", async () => {
    service.identity.claims = { ...MOVED, adoptsMembers: true };
    const told = () => service.identity.assignments.filter(({ subject }) => subject === `there-${count}-owner`);
    await me(await there('member'));
    await me(await there('owner'));
    const { organization } = await me(await there('owner'));
    expect(told()).toEqual([{ subject: `there-${count}-owner`, organizationId: organization.organizationId }]);
  });

  test('a person who signed in before adoption was allowed is moved by their next request', async () => {
    service.identity.claims = MOVED;
    const as = await there('owner');
    expect(await me(as)).toMatchObject({ emailTaken: true });
    service.identity.claims = { ...MOVED, adoptsMembers: true };
    expect(await me(as)).toMatchObject({ role: 'owner', organization: { name: `moving-${count}` } });
  });

  test('without adoption a person reads what to do, and nothing is moved', async () => {
    service.identity.claims = MOVED;
    const reply = await service.call('POST', '/v1/organizations', {
      as: await there('owner'),
      body: { name: 'Again' },
    });
    expect(reply).toMatchObject({ status: 409, body: { code: 'organization_exists' } });
    expect(reply.body.error).toContain('ADOPT_MEMBERS=verified-email');
    service.identity.claims = {};
    expect(await me(tenant.owner)).toMatchObject({ role: 'owner' });
  });

  test('neither an unverified e-mail nor another account of the same provider takes over a membership', async () => {
    service.identity.claims = { ...MOVED, adoptsMembers: true, emailVerified: false };
    expect(await me(await there('owner'))).not.toHaveProperty('organization');
    service.identity.claims = { adoptsMembers: true };
    const twin = await service.identity.token({ subject: 'twin', email: email('owner') });
    expect(await me(twin)).not.toHaveProperty('organization');
    expect(await me(tenant.owner)).toMatchObject({ role: 'owner' });
  });

  test('a person who is removed afterwards is locked out under both providers', async () => {
    service.identity.claims = { ...MOVED, adoptsMembers: true };
    const { userId } = await me(await there('member'));
    await service.call('DELETE', `/v1/organizations/me/members/${userId}`, { as: await there('owner') });
    expect(await me(await there('member'))).not.toHaveProperty('organization');
    service.identity.claims = { adoptsMembers: true };
    expect(await me(await signIn(service, `moving-${count}-member`))).not.toHaveProperty('organization');
  });
});
