import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '../config.ts';
import { ENGINES } from './engines.ts';
import { startTestService, type TestService } from './harness.ts';
import { RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const LIMITED = ROUTE_NAMES.filter((name) => TABLE[name].errors.includes(429));
const COUNTED = { public: 'address', secret: 'secret', user: 'user', member: 'user', admin: 'user' } as const;

describe.each(ENGINES)('limits on %s', (engine) => {
  let world: World;
  const services: TestService[] = [];
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await world.service.close();
  });

  /** A replica with limits, on the same store. */
  async function limited(overrides: Partial<Config>): Promise<TestService> {
    const service = await startTestService(engine, overrides, world.service.store);
    services.push(service);
    return service;
  }

  test('the last allowed request is answered, the next is 429 and says when to come back', async () => {
    const service = await limited({ RATE_LIMIT_SECRET: 3 });
    const ask = () => service.call('GET', '/v1/secret', { as: world.theirs.live });
    for (const left of [2, 1, 0]) {
      const { status, headers } = await ask();
      expect(status).toBe(200);
      expect(headers['ratelimit-policy']).toBe('"secret";q=3;w=60');
      expect(headers.ratelimit).toMatch(new RegExp(`^"secret";r=${left};t=\\d+$`));
    }
    for (let i = 0; i < 4; i++) {
      const refused = await ask();
      expectProblem(refused, 429, 'rate_limited');
      expect(refused.headers.ratelimit).toMatch(/^"secret";r=0;t=\d+$/);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    }
    const other = await service.call('GET', '/v1/secret', { as: world.theirs.test });
    expect(other.status).toBe(200);
  });

  describe('once the limits are reached', () => {
    let service: TestService;
    beforeAll(async () => {
      service = await limited({ RATE_LIMIT_SECRET: 1, RATE_LIMIT_USER: 1, RATE_LIMIT_ADDRESS: 1 });
      const { ours, stranger } = world;
      await service.call('GET', '/health');
      await service.call('GET', '/v1/secret', { as: ours.live });
      for (const as of [ours.admin, ours.member, stranger]) await service.call('GET', '/v1/me', { as });
    });

    test.each(LIMITED)('%s answers 429', async (route) => {
      const { auth } = TABLE[route];
      const reply = await request(service, route, RIGHT[route](world), RIGHT_CALLER[auth](world));
      expectProblem(reply, 429, 'rate_limited');
      expect(reply.headers['ratelimit-policy']).toBe(`"${COUNTED[auth]}";q=1;w=60`);
    });

    test('append alone never answers 429', async () => {
      expect(ROUTE_NAMES.filter((name) => !LIMITED.includes(name))).toEqual(['appendEvents']);
      for (let i = 0; i < 5; i++) {
        const reply = await request(service, 'appendEvents', RIGHT.appendEvents(world), world.ours.live);
        expect(reply.status).toBe(200);
        const refused = await request(service, 'appendEvents', RIGHT.appendEvents(world), 'nonsense');
        expectProblem(refused, 401, 'secret_invalid');
      }
    });

    test('failed attempts count against the address', async () => {
      for (const as of [undefined, 'nonsense', world.revokedSecret]) {
        expectProblem(await service.call('GET', '/v1/secret', { as }), 429, 'rate_limited');
        expectProblem(await service.call('GET', '/v1/me', { as }), 429, 'rate_limited');
      }
    });
  });

  test('requests of a person who may not count against the address', async () => {
    const service = await limited({ RATE_LIMIT_ADDRESS: 2, TRUST_PROXY: ['127.0.0.1'] });
    const from = (address: string) => ({ as: world.theirs.member, headers: { 'x-forwarded-for': address } });
    const ask = (address = '192.0.2.7') => service.call('POST', '/v1/organizations/me/secrets', from(address));
    expect([(await ask()).status, (await ask()).status]).toEqual([403, 403]);
    expect((await ask()).status).toBe(429);
    expect((await ask('192.0.2.8')).status).toBe(403);
  });

  if (engine === 'postgres') {
    test('replicas count together', async () => {
      const replicas = [await limited({ RATE_LIMIT_USER: 4 }), await limited({ RATE_LIMIT_USER: 4 })];
      const statuses: number[] = [];
      for (let i = 0; i < 6; i++) {
        const reply = await replicas[i % 2]?.call('GET', '/v1/organizations/me', { as: world.theirs.owner });
        statuses.push(reply?.status ?? 0);
      }
      expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    });
  }
});
