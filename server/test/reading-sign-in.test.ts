import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READING_EXPIRES_IN } from '../../contract/device.ts';
import { ENGINES } from './engines.ts';
import { beginSignIn } from './factories.ts';
import { expectProblem } from './shape.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('a sign-in for reading on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  const decide = (userCode: string, as: string) =>
    world.service.call('POST', '/v1/organizations/me/device-sign-in', { as, body: { userCode, decision: 'approve' } });
  const collect = (kind: 'reading' | 'secret', deviceCode: string) =>
    world.service.call('POST', `/v1/device-sign-ins/${kind}`, { body: { deviceCode } });
  const read = (as: string, sessionId = world.ours.sessionId) =>
    world.service.call('GET', `/v1/organizations/me/sessions/${sessionId}/events`, { as });

  async function signIn(person = world.ours.member): Promise<string> {
    const { deviceCode, userCode } = await beginSignIn(world.service, 'reads', 'reading');
    expect((await decide(userCode, person)).body).toMatchObject({ status: 'approved', purpose: 'reading' });
    const { status, body } = await collect('reading', deviceCode);
    expect({ status, ...body }).toMatchObject({ status: 200, expiresIn: READING_EXPIRES_IN });
    return body.token;
  }

  test('reads the events that its person may see, and nobody else’s', async () => {
    const token = await signIn();
    expect(await read(token)).toMatchObject({ status: 200, body: await read(world.ours.member).then((r) => r.body) });
    expect((await read(token, world.theirs.sessionId)).status).toBe(404);
  });

  test('reads nothing but events, and writes nothing', async () => {
    const token = await signIn();
    for (const path of ['/v1/me', '/v1/organizations/me/members', '/v1/organizations/me/sessions', '/v1/secret'])
      expectProblem(await world.service.call('GET', path, { as: token }), 401);
    const path = `/v1/sessions/${world.ours.sessionId}/events`;
    const body = { events: [{ eventType: 'notice' }] };
    expect((await world.service.call('POST', path, { as: token, body })).status).toBe(401);
  });

  test('is confirmed by every member, also where only admins let machines capture', async () => {
    const { service, ours } = world;
    const setPolicy = (body: object) => service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body });
    await setPolicy({ signIn: 'admins' });
    expect((await read(await signIn(ours.member))).status).toBe(200);
    await setPolicy({});
  });

  test('gives no secret, and a sign-in for capturing gives no token', async () => {
    const reading = await beginSignIn(world.service, 'reads', 'reading');
    await decide(reading.userCode, world.ours.admin);
    expectProblem(await collect('secret', reading.deviceCode), 400, 'expired_token');
    const capturing = await beginSignIn(world.service, 'captures');
    await decide(capturing.userCode, world.ours.admin);
    expectProblem(await collect('reading', capturing.deviceCode), 400, 'expired_token');
    expect((await collect('secret', capturing.deviceCode)).status).toBe(200);
    expectProblem(await read(`read_${capturing.deviceCode}`), 401, 'token_invalid');
  });

  test('reads nothing before it was confirmed and collected', async () => {
    const { deviceCode, userCode } = await beginSignIn(world.service, 'reads', 'reading');
    expectProblem(await collect('reading', deviceCode), 400, 'authorization_pending');
    await decide(userCode, world.ours.member);
    expectProblem(await read(`read_${deviceCode}`), 401, 'token_invalid');
  });

  test('ends with the membership of its person', async () => {
    const { service, theirs } = world;
    const token = await signIn(theirs.member);
    expect((await read(token, theirs.sessionId)).status).toBe(200);
    await service.call('DELETE', `/v1/organizations/me/members/${theirs.memberId}`, { as: theirs.owner });
    expectProblem(await read(token, theirs.sessionId), 401, 'token_invalid');
  });

  test('ends after 15 minutes', async () => {
    const token = await signIn();
    await world.service.store.db.updateTable('device_sign_ins').set({ expires_at: 1 }).execute();
    expectProblem(await read(token), 401, 'token_invalid');
  });
});
