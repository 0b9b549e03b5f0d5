import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { newUserCode, plainUserCode } from '../credentials.ts';
import { issueToDevice } from '../store/devices.ts';
import { ENGINES } from './engines.ts';
import { beginSignIn } from './factories.ts';
import { startTestService } from './harness.ts';
import { playScenarios } from './scenarios.ts';
import { expectProblem } from './shape.ts';
import { DEVICES } from './tables/devices.ts';
import { createWorld, startWorld, type World } from './world.ts';

playScenarios('device sign-ins', DEVICES);

describe.each(ENGINES)('a device sign-in on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const decide = (body: object, as = world.ours.admin) =>
    world.service.call('POST', '/v1/organizations/me/device-sign-in', { as, body });
  const collect = (deviceCode: string) =>
    world.service.call('POST', '/v1/device-sign-ins/secret', { body: { deviceCode } });

  test('hands the same secret to all simultaneous requests, and issues no other', async () => {
    const { service, ours } = world;
    const { deviceCode, userCode } = await beginSignIn(service, 'raced');
    await decide({ userCode, decision: 'approve' });
    const replies = await Promise.all(Array.from({ length: 8 }, () => collect(deviceCode)));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(replies.map(({ body }) => body.value)).size).toBe(1);
    const { secrets } = (await service.call('GET', '/v1/organizations/me/secrets', { as: ours.member })).body;
    expect(secrets.filter(({ name }: { name: string }) => name === 'raced')).toHaveLength(1);
  });

  test('hands out nothing once its approver may no longer confirm sign-ins', async () => {
    const { service, theirs } = world;
    const policy = (signIn: string) =>
      service.call('PUT', '/v1/organizations/me/policy', { as: theirs.owner, body: { signIn } });
    await policy('admins');
    const { deviceCode, userCode } = await beginSignIn(service, 'left');
    await decide({ userCode, decision: 'approve' }, theirs.admin);
    const { userId } = (await service.call('GET', '/v1/me', { as: theirs.admin })).body;
    const path = `/v1/organizations/me/members/${userId}`;
    const { status } = await service.call('PATCH', path, { as: theirs.owner, body: { role: 'member' } });
    expect(status).toBe(200);
    expectProblem(await collect(deviceCode), 400, 'access_denied');
    await policy('members');
    expect((await collect(deviceCode)).status).toBe(200);
    await service.call('PATCH', path, { as: theirs.owner, body: { role: 'admin' } });
  });

  test('hands out nothing once its approver was removed', async () => {
    const { service, theirs } = world;
    const { deviceCode, userCode } = await beginSignIn(service, 'gone');
    await decide({ userCode, decision: 'approve' }, theirs.member);
    await service.call('DELETE', `/v1/organizations/me/members/${theirs.memberId}`, { as: theirs.owner });
    expectProblem(await collect(deviceCode), 400, 'access_denied');
    // The member is removed between the membership check and the issue of the secret.
    const { db } = service.store;
    const { device_hash } = await db
      .selectFrom('device_sign_ins')
      .select('device_hash')
      .where('hostname', '=', 'gone')
      .executeTakeFirstOrThrow();
    const whose = { organizationId: theirs.organizationId, createdBy: theirs.memberId, plane: 'live' } as const;
    const secret = { ...whose, name: 'gone', hash: 'hash', prefix: 'sk', lastFour: 'last' };
    expect(await issueToDevice(db, device_hash, secret, service.clock.now)).toBeUndefined();
  });

  test('hands its secret out again even if it was collected at the last moment', async () => {
    const { service } = world;
    const { deviceCode, userCode } = await beginSignIn(service, 'at the last moment');
    await decide({ userCode, decision: 'approve' });
    service.clock.now += 599_000;
    const { value } = (await collect(deviceCode)).body;
    service.clock.now += 59_000;
    expect((await collect(deviceCode)).body.value).toBe(value);
    service.clock.now += 1_000;
    expectProblem(await collect(deviceCode), 400, 'expired_token');
  });

  test('hands out no secret again that was revoked in the meantime', async () => {
    const { service, ours } = world;
    const { deviceCode, userCode } = await beginSignIn(service, 'revoked at once');
    await decide({ userCode, decision: 'approve' });
    const { secretId } = (await collect(deviceCode)).body;
    await service.call('DELETE', `/v1/organizations/me/secrets/${secretId}`, { as: ours.admin });
    expectProblem(await collect(deviceCode), 400, 'expired_token');
  });

  test('is decided once, by the first decision', async () => {
    const { service, ours, theirs } = world;
    const { userCode } = await beginSignIn(service, 'disputed');
    const [mine, foreign] = await Promise.all([
      decide({ userCode, decision: 'approve' }, ours.admin),
      decide({ userCode, decision: 'approve' }, theirs.admin),
    ]);
    expect([mine.status, foreign.status].sort()).toEqual([200, 404]);
  });

  test('writes neither itself nor its codes to the log', async () => {
    const { service } = world;
    const { deviceCode, userCode } = await beginSignIn(service, 'quiet');
    await service.call('GET', `/v1/organizations/me/device-sign-in?userCode=${userCode}`, { as: world.ours.admin });
    await decide({ userCode, decision: 'approve' });
    const { value } = (await collect(deviceCode)).body;
    for (const code of [deviceCode, userCode, value]) expect(service.log.join('\n')).not.toContain(code);
  });
});

describe.each(ENGINES)('guesses of codes on %s', (engine) => {
  test('count as ten requests each', async () => {
    const service = await startTestService(engine, { RATE_LIMIT_USER: 40 });
    const { ours } = await createWorld(service);
    const guess = () => service.call('GET', '/v1/organizations/me/device-sign-in?userCode=AAAA', { as: ours.admin });
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await guess()).status);
    expect(statuses).toEqual([404, 404, 404, 404, 429]);
    await service.close();
  });

  test('waiting machines are limited without keeping people at their address from signing in', async () => {
    const service = await startTestService(engine, { RATE_LIMIT_ADDRESS: 10 });
    const begin = () =>
      service.call('POST', '/v1/device-sign-ins', {
        body: { hostname: 'laptop', platform: 'linux', serviceCliVersion: '1' },
      });
    expect([(await begin()).status, (await begin()).status]).toEqual([201, 201]);
    const refused = await begin();
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.body.error).toMatch(/^Too many sign-ins of machines from this address\./);
    expect((await service.call('GET', '/config')).status).toBe(200);
    await service.close();
  });

  test("one waiting machine's limit does not affect other machines at its address", async () => {
    const service = await startTestService(engine, { RATE_LIMIT_ADDRESS: 10 });
    const [first, second] = [await beginSignIn(service, 'first'), await beginSignIn(service, 'second')];
    const ask = async (deviceCode: string) =>
      (await service.call('POST', '/v1/device-sign-ins/secret', { body: { deviceCode } })).status;
    const statuses = [];
    for (let i = 0; i < 11; i++) statuses.push(await ask(first.deviceCode));
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
    expect(await ask(second.deviceCode)).toBe(400);
    for (let i = 0; i < 10; i++) expect(await ask(`none-${i}`)).toBe(400);
    expect(await ask('none')).toBe(429);
    await service.close();
  });
});

test('a code may be typed in any letter case and with any separators', () => {
  const noise = fc.constantFrom('', ' ', '-', '\u2013', '.', '\n');
  fc.assert(
    fc.property(fc.array(noise, { minLength: 10, maxLength: 10 }), fc.boolean(), (between, isLower) => {
      const code = newUserCode();
      const typed = [...code].map((character, index) => character + between[index]).join('');
      expect(plainUserCode(isLower ? typed.toLowerCase() : typed)).toBe(code.replace('-', ''));
    }),
    runs(100),
  );
});

test.each(ENGINES)('sign-ins that have ended are removed by the next round, on %s', async (engine) => {
  const service = await startTestService(engine);
  await beginSignIn(service, 'laptop of kim');
  const rows = async () => (await service.store.db.selectFrom('device_sign_ins').select('hostname').execute()).length;
  service.clock.now += 599_999;
  await service.run('sign-ins');
  expect(await rows()).toBe(1);
  service.clock.now += 1;
  await service.run('sign-ins');
  expect(await rows()).toBe(0);
  await service.close();
});
