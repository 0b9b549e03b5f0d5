import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { type AnyRouteName, RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('the log on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  test('holds no credential, no payload and no body after any error', async () => {
    const { service, ours, theirs, stranger, revokedSecret } = world;
    const secretText = 'my-very-private-words';
    const spoil = { body: `{"name":"${secretText}","events":[{"payload":{"text":"${secretText}"}}]` };
    for (const route of ROUTE_NAMES.filter((name: AnyRouteName) => name !== 'streamChanges')) {
      const as = RIGHT_CALLER[TABLE[route].auth](world);
      await request(service, route, RIGHT[route](world), as);
      await request(service, route, { ...RIGHT[route](world), ...(TABLE[route].body ? spoil : {}) }, as);
      await request(service, route, { ...RIGHT[route](world), headers: { 'x-service-secret': ours.live } });
      for (const wrong of [revokedSecret, `${ours.live}x`, ours.member, theirs.live]) {
        await request(service, route, RIGHT[route](world), wrong);
      }
    }
    const secrets = [
      ours.live,
      ours.shareToken,
      ours.test,
      theirs.live,
      revokedSecret,
      ours.owner,
      ours.member,
      stranger,
      secretText,
    ];
    const log = service.log.join('');
    expect(service.log.length).toBeGreaterThan(100);
    for (const secret of secrets) expect(log).not.toContain(secret.slice(-20));
  });

  test('has the details of an unexpected error that the caller does not get', async () => {
    const { service, ours } = world;
    const broken = Object.assign(new Error('the very reason'), { config: { password: 'hunter2' } });
    service.identity.verify = () => Promise.reject(broken);
    const reply = await service.call('GET', '/v1/me', { as: ours.owner });
    expect(reply).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(Object.keys(reply.body).sort()).toEqual(['code', 'error']);
    expect(reply.text).not.toContain('the very reason');
    const line = service.log.findLast((entry) => entry.includes('the very reason'));
    expect(JSON.parse(String(line))).toMatchObject({
      level: 50,
      code: 'internal',
      reqId: reply.headers['x-request-id'],
    });
    expect(line).not.toContain('hunter2');
  });
});
