import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Config } from '../config.ts';
import { newSecretValue } from '../credentials.ts';
import { createLimits, RateLimited } from '../limits.ts';
import { ENGINES } from './engines.ts';
import { issueSecret } from './factories.ts';
import { startTestService, type TestService, testConfig } from './harness.ts';
import { RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

const LIMITED = ROUTE_NAMES.filter((name) => TABLE[name].errors.includes(429));
/** The largest number of callers with points in a replica's memory. */
const REMEMBERED = 10_000;
const COUNTED = {
  public: 'address',
  secret: 'secret',
  user: 'user',
  visitor: 'user',
  member: 'user',
  admin: 'user',
  directory: 'directory',
} as const;

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

  /** A replica with limits on the same store. */
  async function limited(overrides: Partial<Config>): Promise<TestService> {
    const service = await startTestService(engine, overrides, world.service.store);
    services.push(service);
    return service;
  }

  test('the last allowed request is answered, and the next gets 429 with the time to wait', async () => {
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

  describe('after the limits are reached', () => {
    let service: TestService;
    beforeAll(async () => {
      service = await limited({
        RATE_LIMIT_SECRET: 1,
        RATE_LIMIT_USER: 1,
        RATE_LIMIT_DIRECTORY: 1,
        RATE_LIMIT_ADDRESS: 1,
      });
      const { ours, stranger } = world;
      await service.call('GET', '/health');
      await service.call('GET', '/v1/secret', { as: ours.live });
      await service.call('GET', '/scim/v2/Schemas', { as: ours.directoryToken });
      await request(service, 'completeSessions', { body: { sessions: [{ sessionId: 'ses_none' }] } }, ours.live);
      await request(service, 'collectDeviceSecret', RIGHT.collectDeviceSecret(world));
      await request(service, 'collectReadingToken', RIGHT.collectReadingToken(world));
      for (const as of [ours.admin, ours.member, stranger]) await service.call('GET', '/v1/me', { as });
    });

    test.each(LIMITED)('%s answers 429', async (route) => {
      const { auth, limit } = TABLE[route];
      const reply = await request(service, route, RIGHT[route](world), RIGHT_CALLER[auth](world));
      expectProblem(reply, 429, 'rate_limited');
      expect(reply.headers['ratelimit-policy']).toBe(`"${limit ?? COUNTED[auth]}";q=1;w=60`);
    });

    test('appendEvents is the only route that never answers 429', async () => {
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

  test('requests that a person may not send count against the address', async () => {
    const service = await limited({ RATE_LIMIT_ADDRESS: 2, TRUST_PROXY: ['127.0.0.1'] });
    const from = (address: string) => ({ as: world.theirs.member, headers: { 'x-forwarded-for': address } });
    const ask = (address = '192.0.2.7') => service.call('POST', '/v1/organizations/me/secrets', from(address));
    expect([(await ask()).status, (await ask()).status]).toEqual([403, 403]);
    expect((await ask()).status).toBe(429);
    expect((await ask('192.0.2.8')).status).toBe(403);
  });

  test('exactly the allowed number of simultaneous requests is answered', async () => {
    const service = await limited({ RATE_LIMIT_SECRET: 50 });
    const secret = await issueSecret(world.service, world.theirs.owner, 'live');
    const ask = () => service.call('GET', '/v1/secret', { as: secret });
    const replies = await Promise.all(Array.from({ length: 70 }, ask));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(50);
    for (const reply of replies.filter(({ status }) => status !== 200)) expectProblem(reply, 429, 'rate_limited');
  });

  test('a request may count as several', async () => {
    const limits = createLimits(testConfig({ RATE_LIMIT_USER: 10 }), world.service.store);
    expect((await limits.count('user', 'usr_busy', 6)).ratelimit).toMatch(/;r=4;/);
    await expect(limits.count('user', 'usr_busy', 5)).rejects.toThrow(/^Too many requests for this user/);
    expect((await limits.count('user', 'usr_busy', 4)).ratelimit).toMatch(/;r=0;/);
    await expect(limits.count('user', 'usr_busy')).rejects.toThrow(RateLimited);
  });

  test('more simultaneous people than are remembered cost only the first one part of their limit', async () => {
    const limits = createLimits(testConfig({ RATE_LIMIT_USER: 600 }), world.service.store);
    const leftOf = async (person: string) =>
      Number(/;r=(\d+);/.exec((await limits.count('user', person)).ratelimit ?? '')?.[1]);
    expect(await leftOf('usr_first')).toBe(599);
    for (let from = 0; from < REMEMBERED; from += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, n) => limits.count('user', `usr_crowd_${from + n}`)));
    }
    expect(await leftOf(`usr_crowd_${REMEMBERED / 2}`)).toBe(598);
    expect(await leftOf('usr_first')).toBe(600 - 2 * (600 / 20) + 29);
  });

  test('addresses of one IPv6 network share a limit', async () => {
    const service = await limited({ RATE_LIMIT_ADDRESS: 2, TRUST_PROXY: ['127.0.0.1'] });
    const ask = async (address: string) =>
      (await service.call('GET', '/health', { headers: { 'x-forwarded-for': address } })).status;
    expect(await ask('2001:db8:5::1')).toBe(200);
    expect(await ask('2001:db8:5:0:1::')).toBe(200);
    expect(await ask('2001:db8:5::3')).toBe(429);
    expect(await ask('2001:db8:5:1::3')).toBe(200);
    for (const address of ['::ffff:192.0.2.77', '192.0.2.77', '192.0.2.77']) await ask(address);
    expect([await ask('192.0.2.77'), await ask('192.0.2.78')]).toEqual([429, 200]);
  });

  test('an unknown secret from an address that sent too many gets 503, and a known secret continues', async () => {
    const service = await limited({ RATE_LIMIT_ADDRESS: 2, TRUST_PROXY: ['127.0.0.1'] });
    const append = (as: string, address: string) => {
      const ask = RIGHT.appendEvents(world);
      return request(service, 'appendEvents', { ...ask, headers: { 'x-forwarded-for': address } }, as);
    };
    expect((await append(world.ours.live, '192.0.2.90')).status).toBe(200);
    for (let i = 0; i < 2; i++) {
      expectProblem(await append(newSecretValue('live'), '192.0.2.90'), 401, 'secret_invalid');
    }
    const refused = await append(newSecretValue('live'), '192.0.2.90');
    expectProblem(refused, 503, 'service_unavailable');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await append(world.ours.live, '192.0.2.90')).status).toBe(200);
    expectProblem(await append(newSecretValue('live'), '192.0.2.91'), 401, 'secret_invalid');
  });

  test('an untrusted proxy causes one warning', async () => {
    const service = await limited({});
    const ask = () => service.call('GET', '/health', { headers: { 'x-forwarded-for': '192.0.2.1' } });
    await ask();
    await ask();
    expect(service.log.filter((line) => line.includes('TRUST_PROXY'))).toHaveLength(1);
    const configured = await limited({ TRUST_PROXY: ['127.0.0.1'] });
    await configured.call('GET', '/health', { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(configured.log.join('')).not.toContain('TRUST_PROXY');
  });

  if (engine === 'postgres') {
    test('a hundred requests cost the store a few writes, not a hundred', async () => {
      const service = await limited({ RATE_LIMIT_USER: 300 });
      const pool = world.service.store.pool as pg.Pool;
      // All other queries use a client of the pool.
      const counted = vi.spyOn(pool, 'query');
      for (let i = 0; i < 100; i++) {
        expect((await service.call('GET', '/v1/agents', { as: world.theirs.admin })).status).toBe(200);
      }
      expect(counted.mock.calls.length).toBeGreaterThan(0);
      // Seven portions, and one more for each minute that a busy machine takes.
      expect(counted.mock.calls.length).toBeLessThan(20);
      counted.mockRestore();
    });

    test('replicas together never allow more than the limit', async () => {
      const replicas = [await limited({ RATE_LIMIT_USER: 60 }), await limited({ RATE_LIMIT_USER: 60 })];
      const statuses: number[] = [];
      for (let i = 0; i < 100; i++) {
        const reply = await replicas[i % 2]?.call('GET', '/v1/agents', { as: world.ours.owner });
        statuses.push(reply?.status ?? 0);
      }
      expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    });

    test('replicas share their counts', async () => {
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
