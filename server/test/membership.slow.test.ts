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

  test('an invited person is a member from their first request on, with an e-mail in any letter case, and keeps their id', async () => {
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

  test('an unverified e-mail joins nothing until it is verified', async () => {
    const { userId } = (await invite('unproven@example.com')).body;
    const claims = { subject: 'unproven', email: 'unproven@example.com' };
    const before = await service.identity.token({ ...claims, emailVerified: false });
    expect(await organizationOf(before)).toMatchObject({ status: 403, body: { code: 'no_organization' } });
    expect(await member(userId)).toMatchObject({ status: 'invited' });
    const after = await service.identity.token(claims);
    expect((await organizationOf(after)).status).toBe(200);
  });

  test('a person who existed before the invitation joins with the id that they had', async () => {
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

  test('an e-mail that only looks like the invited one joins nothing', async () => {
    const { userId } = (await invite('mike@example.com')).body;
    const other = await service.identity.token({ subject: 'kelvin', email: 'mi\u212ae@example.com' });
    expect((await organizationOf(other)).status).toBe(403);
    expect(await member(userId)).toMatchObject({ status: 'invited' });
    const invited = await service.identity.token({ subject: 'mike', email: 'MIKE@example.com' });
    expect((await organizationOf(invited)).status).toBe(200);
  });

  test("a founder with an unverified e-mail counts as that e-mail's member once it is verified", async () => {
    const claims = { subject: 'proves-later', email: 'proves-later@example.com' };
    const unproven = await service.identity.token({ ...claims, emailVerified: false });
    service.identity.claims = { foundsUnverified: true };
    await service.call('POST', '/v1/organizations', { as: unproven, body: { name: 'Proves later' } });
    service.identity.claims = {};
    const { userId } = (await invite(claims.email)).body;
    const proven = await service.identity.token(claims);
    expect((await organizationOf(proven)).body).toMatchObject({ name: 'Proves later' });
    expect(await member(userId)).toBeUndefined();
    expect(await invite(claims.email)).toMatchObject({ status: 409, body: { code: 'member_exists' } });
  });

  test('a member of an organization cannot be invited to another', async () => {
    const theirs = await createTenant(service, 'theirs');
    for (const as of [ours.member, ours.admin]) await organizationOf(as);
    for (const email of ['ours-owner@example.com', 'ours-member@example.com', 'OURS-ADMIN@example.com']) {
      const reply = await invite(email, 'member', theirs.owner);
      expect(reply).toMatchObject({ status: 409, body: { code: 'member_exists' } });
    }
  });

  test('the first requests of an invited person may arrive at the same time', async () => {
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

  test('organizations created at once under one name get different slugs', async () => {
    const people = await Promise.all(Array.from({ length: 12 }, () => signIn(service)));
    const create = (as: string) => service.call('POST', '/v1/organizations', { as, body: { name: 'Same Name' } });
    const replies = await Promise.all(people.map(create));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ body }) => body.slug)).size).toBe(12);
  });

  test('a person who creates two organizations at once gets one', async () => {
    const as = await signIn(service);
    const create = (name: string) => service.call('POST', '/v1/organizations', { as, body: { name } });
    const statuses = (await Promise.all(['A', 'B', 'C'].map(create))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409]);
  });

  test('an e-mail that is invited twice at once is invited once', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => invite('rush@example.com')));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  test('an invitation that was stored and never mailed is mailed when it is sent again', async () => {
    const { userId } = (await invite('cut-off@example.com')).body;
    await service.store.db.updateTable('members').set({ mailed_at: null }).where('user_id', '=', userId).execute();
    const listed = async () =>
      (await service.call('GET', '/v1/organizations/me/invitations', { as: ours.admin })).body.invitations.find(
        (invitation: { userId: string }) => invitation.userId === userId,
      );
    expect(await listed()).not.toHaveProperty('mailedAt');
    await service.call('POST', `/v1/organizations/me/members/${userId}/invitation`, { as: ours.admin });
    expect(await listed()).toHaveProperty('mailedAt');
  });

  test('a person with two invitations belongs to no organization until they choose one or found their own', async () => {
    const theirs = await createTenant(service);
    for (const name of ['undecided', 'founder']) {
      for (const as of [ours.owner, theirs.owner]) await invite(`${name}@example.com`, 'member', as);
    }
    const as = await signIn(service, 'undecided');
    expect(await organizationOf(as)).toMatchObject({ status: 403, body: { code: 'no_organization' } });
    const body = { organizationId: theirs.organizationId };
    expect((await service.call('POST', '/v1/me/membership', { as, body })).status).toBe(200);
    expect((await organizationOf(as)).body).toMatchObject(body);
    const founder = await signIn(service, 'founder');
    expect((await service.call('POST', '/v1/organizations', { as: founder, body: { name: 'Own' } })).status).toBe(201);
    const { users } = (await service.call('GET', '/v1/organizations/me/members', { as: ours.owner })).body;
    expect(JSON.stringify(users)).not.toMatch(/undecided|founder/);
  });

  test('accepting two invitations at once gives one membership', async () => {
    const theirs = await createTenant(service);
    for (let round = 0; round < 10; round++) {
      const email = `torn-${round}@example.com`;
      for (const as of [ours.owner, theirs.owner]) await invite(email, 'member', as);
      const as = await service.identity.token({ subject: email, email });
      const choose = ({ organizationId }: Tenant) =>
        service.call('POST', '/v1/me/membership', { as, body: { organizationId } });
      const statuses = (await Promise.all([choose(ours), choose(theirs)])).map(({ status }) => status).sort();
      expect(statuses[0]).toBe(200);
      expect([404, 409]).toContain(statuses[1]);
      expect((await organizationOf(as)).status).toBe(200);
    }
  });

  test('an invitation can be accepted however many organizations invited the same e-mail before', async () => {
    const { db } = service.store;
    const [organization] = await db.selectFrom('organizations').selectAll().limit(1).execute();
    const [before] = await db.selectFrom('members').selectAll().limit(1).execute();
    if (!organization || !before) throw new Error('no organization to copy');
    for (let index = 0; index < 100; index++) {
      const id = { organization_id: `org_crowd_${index}` };
      const waiting = { joined_at: null, status: 'invited', role: 'member' } as const;
      const named = { user_id: `usr_crowd_${index}`, email: 'wanted@example.com', email_key: 'wanted@example.com' };
      await db
        .insertInto('organizations')
        .values({ ...organization, ...id, slug: `crowd-${index}` })
        .execute();
      await db
        .insertInto('members')
        .values({ ...before, ...id, ...waiting, ...named, created_at: 0 })
        .execute();
    }
    await invite('wanted@example.com');
    const as = await service.identity.token({ subject: 'wanted', email: 'wanted@example.com' });
    const body = { organizationId: ours.organizationId };
    const { invitations } = (await service.call('GET', '/v1/me', { as })).body;
    expect(invitations).toHaveLength(100);
    expect(invitations[0]).toMatchObject(body);
    expect(await service.call('POST', '/v1/me/membership', { as, body })).toMatchObject({ status: 200 });
    expect((await organizationOf(as)).status).toBe(200);
  });

  test('of two owners who leave or demote each other at once, one remains', async () => {
    const members = '/v1/organizations/me/members';
    for (let round = 0; round < 10; round++) {
      const [ada, bob] = [await signIn(service), await signIn(service, `bob-${engine}-${round}`)];
      await service.call('POST', '/v1/organizations', { as: ada, body: { name: 'Two' } });
      await invite(`bob-${engine}-${round}@example.com`, 'owner', ada);
      const idOf = async (as: string) => (await service.call('GET', '/v1/me', { as })).body.userId;
      const ids = [await idOf(ada), await idOf(bob)];
      const leave = (as: string) => service.call('DELETE', '/v1/me/membership', { as });
      const demote = (as: string, userId = '') =>
        service.call('PATCH', `${members}/${userId}`, { as, body: { role: 'member' } });
      const both = round % 2 ? [leave(ada), leave(bob)] : [demote(ada, ids[1]), demote(bob, ids[0])];
      const statuses = (await Promise.all(both)).map(({ status }) => status).sort();
      expect(statuses[0]).toBe(200);
      expect([403, 409]).toContain(statuses[1]);
      const roles = await Promise.all([ada, bob].map(async (as) => (await service.call('GET', '/v1/me', { as })).body));
      const owners = roles.filter(({ role }) => role === 'owner');
      expect(owners).toHaveLength(1);
      expect(owners[0].organization.ownerUserId).toBe(owners[0].userId);
    }
  });

  test('a request of a known person writes nothing, with or without an organization', async () => {
    const lonely = await signIn(service, 'lonely');
    for (const as of [lonely, ours.owner]) {
      const update = async () => {
        await service.call('GET', '/v1/me', { as });
        const { body } = await service.call('GET', '/v1/me', { as });
        return service.store.db.selectFrom('users').select('updated_at').where('user_id', '=', body.userId).execute();
      };
      const before = await update();
      service.clock.now += 60_000;
      expect(await update()).toEqual(before);
    }
  });

  test('a token without an e-mail keeps the stored e-mail', async () => {
    const as = await signIn(service, 'quiet');
    const { body } = await service.call('GET', '/v1/me', { as });
    const token = await service.identity.token({ subject: 'quiet' });
    expect((await service.call('GET', '/v1/me', { as: token })).body).toMatchObject({ userId: body.userId });
    const known = service.store.db.selectFrom('users').select(['email', 'email_verified']);
    const [row] = await known.where('user_id', '=', body.userId).execute();
    expect(row).toEqual({ email: body.email, email_verified: 1 });
  });

  test('only the owner assigns an organization at an identity provider that does not know it', async () => {
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

test.each(ENGINES)('an organization sends at most five invitations an hour to one e-mail on %s', async (engine) => {
  const service = await startTestService(engine, { RATE_LIMIT_USER: 300 });
  try {
    const [ours, theirs] = [await createTenant(service), await createTenant(service)];
    const members = '/v1/organizations/me/members';
    const invite = (email: string, as = ours.owner) => service.call('POST', members, { as, body: { email } });
    const { userId } = (await invite('often@example.com')).body;
    const repeat = () => service.call('POST', `${members}/${userId}/invitation`, { as: ours.owner });
    for (let mails = 2; mails <= 5; mails++) expect((await repeat()).status).toBe(200);
    const refused = await repeat();
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
    expect((await service.call('DELETE', `${members}/${userId}`, { as: ours.owner })).status).toBe(200);
    expect((await invite('OFTEN@example.com')).status).toBe(429);
    expect((await service.call('GET', members, { as: ours.owner })).text).not.toContain('often');
    expect(service.identity.invitations.filter(({ email }) => /often/i.test(email))).toHaveLength(5);
    expect((await invite('another@example.com')).status).toBe(201);
    expect((await invite('often@example.com', theirs.owner)).status).toBe(201);
  } finally {
    await service.close();
  }
});
