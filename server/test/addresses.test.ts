import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { address } from '../../contract/client.ts';
import { ENGINES } from './engines.ts';
import { RIGHT, ROUTE_NAMES, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const UNKNOWN = [
  '/',
  '/nope',
  '/v1',
  '/v1/',
  '/v1/nope',
  '/v1/organizations/you',
  '/V1/agents',
  '//v1/agents',
  '/health/',
];
const ALL_METHODS = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND'];

describe.each(ENGINES)('addresses on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const urlOf = (name: (typeof ROUTE_NAMES)[number]) => address('', TABLE[name], RIGHT[name](world).params ?? {});
  const methodsOf = (path: string) =>
    ROUTE_NAMES.filter((name) => TABLE[name].path === path).map((name) => TABLE[name].method as string);

  test.each(UNKNOWN.flatMap((url) => ['GET', 'POST', 'OPTIONS', 'PUT'].map((method) => ({ method, url }))))(
    '$method $url is unknown',
    async ({ method, url }) => {
      expectProblem(await world.service.call(method, url, { as: world.ours.owner }), 404, 'not_found');
    },
  );

  test.each(ROUTE_NAMES)('the address of %s accepts its own methods and no other', async (name) => {
    const known = methodsOf(TABLE[name].path);
    for (const method of ALL_METHODS.filter((candidate) => !known.includes(candidate))) {
      const reply = await world.service.call(method, urlOf(name), { as: world.ours.owner });
      expectProblem(reply, 405, 'method_not_allowed');
      expect(reply.headers.allow?.split(', ').sort()).toEqual([...known].sort());
    }
  });

  test.each(['/health', '/v1/organizations/me', '/v1/sessions'])(
    '%s refuses HEAD with and without a credential',
    async (url) => {
      for (const as of [world.ours.member, undefined]) {
        const reply = await world.service.call('HEAD', url, { as });
        expect({ status: reply.status, text: reply.text }).toEqual({ status: 405, text: '' });
        expect(reply.headers.allow).not.toContain('HEAD');
      }
    },
  );

  test('HEAD on an unknown address gets 404', async () => {
    expect((await world.service.call('HEAD', '/nope')).status).toBe(404);
  });

  test.each(['/v1/%zz', '/v1/organizations/me/sessions/%zz', '/v1/organizations/me/environments/%E0%A4%A', '/%'])(
    'the address %s is refused because it cannot be decoded',
    async (url) => {
      const reply = await world.service.call('GET', url, { as: world.ours.owner });
      expectProblem(reply, 400, 'validation_failed');
      expect(reply.headers['x-request-id']).toBeDefined();
      expect(reply.headers['x-content-type-options']).toBe('nosniff');
    },
  );

  test('an id may be long, and an id beyond the limit is malformed', async () => {
    const get = (length: number) =>
      world.service.call('GET', `/v1/organizations/me/sessions/${'x'.repeat(length)}`, { as: world.ours.owner });
    expectProblem(await get(512), 404, 'not_found');
    expectProblem(await get(513), 400, 'validation_failed');
  });

  test.each(['%00', 'a%2Fb', '%F0%9F%98%80', "'%20or%201=1--", '..%2f..', '__proto__', 'constructor'])(
    'the id %s is unknown',
    async (id) => {
      const { service, ours } = world;
      expectProblem(await service.call('GET', `/v1/organizations/me/sessions/${id}`, { as: ours.owner }), 404);
      expectProblem(await service.call('DELETE', `/v1/organizations/me/secrets/${id}`, { as: ours.owner }), 404);
      expectProblem(await service.call('POST', `/v1/environments/${id}/heartbeat`, { as: ours.live }), 404);
    },
  );

  test.each(['?x=%zz', '?__proto__=1&constructor=2', '?%00=%00', '?a[b]=c', `?${'a&'.repeat(2_000)}`])(
    'the unknown query %s is ignored',
    async (query) => {
      const { service, ours } = world;
      expect((await service.call('GET', `/health${query}`)).status).toBe(200);
      expect((await service.call('GET', `/v1/organizations/me/sessions${query}`, { as: ours.owner })).status).toBe(200);
    },
  );

  test('a query field that is given twice is malformed', async () => {
    const reply = await world.service.call('GET', '/v1/organizations/me/sessions?cursor=a&cursor=b', {
      as: world.ours.owner,
    });
    expectProblem(reply, 400, 'validation_failed');
  });
});
