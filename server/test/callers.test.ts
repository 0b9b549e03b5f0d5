import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WRONG_CALLERS } from './callers.ts';
import { ENGINES } from './engines.ts';
import { RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('callers on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const rows = ROUTE_NAMES.flatMap((route) => WRONG_CALLERS[TABLE[route].auth].map((caller) => ({ route, ...caller })));

  test.each(rows)('$route refuses $name', async ({ route, headers, status, code }) => {
    const reply = await request(world.service, route, { ...RIGHT[route](world), headers: await headers(world) });
    expectProblem(reply, status, code);
  });

  test.each(ROUTE_NAMES)('%s refuses before it looks at the body', async (route) => {
    const { auth, body } = TABLE[route];
    if (auth === 'public' || !body) return;
    expectProblem(await request(world.service, route, { ...RIGHT[route](world), body: '{' }), 401);
  });

  test('a secret is taken from its header, and before a bearer token', async () => {
    const { service, ours } = world;
    const both = { 'x-service-secret': ours.test, authorization: `Bearer ${ours.live}` };
    const reply = await service.call('GET', '/v1/secret', { headers: both });
    expect(reply).toMatchObject({ status: 200, body: { secretEnvironment: 'test' } });
    const lower = await service.call('GET', '/v1/secret', { headers: { authorization: `bearer  ${ours.live} ` } });
    expect(lower).toMatchObject({ status: 200, body: { secretEnvironment: 'live' } });
  });

  test('everybody who may is let in', async () => {
    // The stream does not end. The tables of the other routes say who may call them.
    const elsewhere = ['streamChanges', 'acceptInvitation', 'passOwnership', 'deleteAccount', 'deleteOrganization'];
    // These end what the others work on.
    const late = ['repeatInvitation', 'removeMember', 'revokeEnvironment', 'leaveOrganization'] as const;
    const others = ROUTE_NAMES.filter((name) => ![...elsewhere, ...late].includes(name));
    for (const route of [...others, ...late]) {
      const as = RIGHT_CALLER[TABLE[route].auth](world);
      const reply = await request(world.service, route, RIGHT[route](world), as);
      expect([200, 201], `${route}: ${reply.text}`).toContain(reply.status);
    }
  });

  test('an owner may what an admin may', async () => {
    const { service, ours } = world;
    const body = { email: 'another-invited@example.com' };
    const invited = await service.call('POST', '/v1/organizations/me/members', { as: ours.owner, body });
    Object.assign(ours, { userId: invited.body.userId, memberId: invited.body.userId });
    // The right request for it names another organization, because all other tests need this one.
    const routes = ROUTE_NAMES.filter((name) => TABLE[name].auth === 'admin' && name !== 'deleteOrganization');
    for (const route of routes) {
      const reply = await request(world.service, route, RIGHT[route](world), world.ours.owner);
      expect([200, 201, 409], `${route}: ${reply.text}`).toContain(reply.status);
    }
  });
});
