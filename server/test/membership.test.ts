import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, signIn, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

describe.each(ENGINES)('membership on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  beforeAll(async () => {
    service = await startTestService(engine);
    ours = await createTenant(service, 'ours');
  });
  afterAll(() => service.close());

  const invite = (email: string, role = 'member', as = ours.owner) =>
    service.call('POST', '/v1/organizations/me/members', { as, body: { email, role } });
  const member = async (userId: string) => {
    const { body } = await service.call('GET', '/v1/organizations/me/members', { as: ours.owner });
    return body.users.find((user: { userId: string }) => user.userId === userId);
  };
  const organizationOf = (as: string) => service.call('GET', '/v1/organizations/me', { as });

  test('an invited person is a member from their first request on, in any letters, and keeps their id', async () => {
    const { userId } = (await invite('Grace.Hopper@Example.com', 'admin')).body;
    expect(await member(userId)).toMatchObject({ status: 'invited', email: 'Grace.Hopper@Example.com' });
    expect(await member(userId)).not.toHaveProperty('joinedAt');
    service.clock.now += 60_000;
    const as = await service.identity.token({ subject: 'grace', email: 'grace.hopper@example.COM' });
    expect(await organizationOf(as)).toMatchObject({ status: 200, body: { organizationId: ours.organizationId } });
    expect(await member(userId)).toMatchObject({
      status: 'active',
      role: 'admin',
      joinedAt: new Date(service.clock.now).toISOString(),
    });
    const person = await service.call('GET', '/v1/me', { as });
    expect(person.body).toMatchObject({ userId, role: 'admin' });
  });

  test('an e-mail nobody has verified joins nothing, until it is verified', async () => {
    const { userId } = (await invite('unproven@example.com')).body;
    const claims = { subject: 'unproven', email: 'unproven@example.com' };
    const before = await service.identity.token({ ...claims, emailVerified: false });
    expect(await organizationOf(before)).toMatchObject({ status: 403, body: { code: 'no_organization' } });
    expect(await member(userId)).toMatchObject({ status: 'invited' });
    const after = await service.identity.token(claims);
    expect((await organizationOf(after)).status).toBe(200);
  });

  test('a person who was here before the invitation joins with the id they had', async () => {
    const as = await signIn(service, 'early-bird');
    const before = (await service.call('GET', '/v1/me', { as })).body;
    expect(before).not.toHaveProperty('organization');
    await invite('early-bird@example.com');
    expect((await service.call('GET', '/v1/me', { as })).body).toMatchObject({
      userId: before.userId,
      organization: { organizationId: ours.organizationId },
    });
    expect(await member(before.userId)).toMatchObject({ status: 'active' });
  });

  test('another subject with the same e-mail is another person', async () => {
    await invite('shared@example.com');
    const first = await service.identity.token({ subject: 'shared-1', email: 'shared@example.com' });
    const second = await service.identity.token({ subject: 'shared-2', email: 'shared@example.com' });
    expect((await organizationOf(first)).status).toBe(200);
    expect((await organizationOf(second)).status).toBe(403);
  });

  test('whoever belongs to an organization is not invited to another', async () => {
    const theirs = await createTenant(service, 'theirs');
    for (const email of ['ours-owner@example.com', 'ours-member@example.com', 'OURS-ADMIN@example.com']) {
      const reply = await invite(email, 'member', theirs.owner);
      expect(reply).toMatchObject({ status: 409, body: { code: 'member_exists' } });
    }
  });

  test('the first requests of an invited person may come all at once', async () => {
    for (let round = 0; round < 20; round++) {
      const email = `at-once-${round}@example.com`;
      const { userId } = (await invite(email)).body;
      const as = await service.identity.token({ subject: email, email });
      const replies = await Promise.all(Array.from({ length: 8 }, () => service.call('GET', '/v1/me', { as })));
      for (const reply of replies) {
        expect(reply).toMatchObject({ status: 200, body: { userId, organization: { name: 'ours' } } });
      }
    }
  });

  test('organizations of one name created at once have slugs of their own', async () => {
    const people = await Promise.all(Array.from({ length: 12 }, () => signIn(service)));
    const create = (as: string) => service.call('POST', '/v1/organizations', { as, body: { name: 'Same Name' } });
    const replies = await Promise.all(people.map(create));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ body }) => body.slug)).size).toBe(12);
  });

  test('one person who creates two organizations at once gets one', async () => {
    const as = await signIn(service);
    const create = (name: string) => service.call('POST', '/v1/organizations', { as, body: { name } });
    const statuses = (await Promise.all(['A', 'B', 'C'].map(create))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409]);
  });

  test('an e-mail invited twice at once is invited once', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => invite('rush@example.com')));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  test('only the owner tells the identity provider of an organization it has not heard of', async () => {
    service.identity.broken = true;
    const owner = await signIn(service, 'late-owner');
    await service.call('POST', '/v1/organizations', { as: owner, body: { name: 'Late' } });
    service.identity.broken = false;
    await invite('late-member@example.com', 'member', owner);
    await service.call('GET', '/v1/me', { as: await signIn(service, 'late-member') });
    await service.call('GET', '/v1/me', { as: owner });
    expect(service.identity.assignments.filter(({ subject }) => subject.startsWith('late-'))).toMatchObject([
      { subject: 'late-owner' },
    ]);
  });
});
