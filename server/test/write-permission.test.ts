import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOGS } from './engines.ts';
import { event, issueSecret, type Machine, registerMachine } from './factories.ts';
import { openingOn, signInMachine } from './signed-in.ts';
import { startWorld, type World } from './world.ts';

describe.each(LOGS)('writing to a session on %s', (engine) => {
  let world: World;
  /** The laptops of two people, a second one of the first person, and a machine of nobody. */
  let ann: string;
  let annToo: string;
  let bob: string;
  let laptop: Machine;
  let second: Machine;
  let other: Machine;
  beforeAll(async () => {
    world = await startWorld(engine);
    const { service, ours } = world;
    const machine = async (as: string, hostname: string) => {
      const secret = await signInMachine(service, as, hostname);
      return [secret, await registerMachine(service, secret, hostname)] as const;
    };
    [ann, laptop] = await machine(ours.member, 'laptop-of-ann');
    [annToo, second] = await machine(ours.member, 'new-laptop-of-ann');
    [bob, other] = await machine(ours.admin, 'laptop-of-bob');
  });
  afterAll(() => world.service.close());

  const call = (method: string, path: string, as: string, body?: object) =>
    world.service.call(method, path, { as, ...(body && { body }) });
  const open = async (as = ann, machine = laptop): Promise<string> =>
    (await call('POST', '/v1/sessions', as, openingOn(machine))).body.sessionId;
  const append = (as: string, sessionId: string, ...texts: string[]) =>
    call('POST', `/v1/sessions/${sessionId}/events`, as, { events: texts.map(event) });
  const complete = (as: string, sessionId: string) => call('POST', `/v1/sessions/${sessionId}/complete`, as);
  const completeMany = async (as: string, ...sessionIds: string[]) =>
    (await call('POST', '/v1/completed-sessions', as, { sessions: sessionIds.map((sessionId) => ({ sessionId })) }))
      .body.results;
  const sendersOf = async (sessionId: string, as = world.ours.member) =>
    call('GET', `/v1/organizations/me/sessions/${sessionId}/senders`, as);
  const isTaken = engine === 'bus' ? 202 : 200;
  const stored = (sessionId: string, count: number) =>
    expect
      .poll(async () => (await call('GET', `/v1/organizations/me/sessions/${sessionId}`, world.ours.member)).body)
      .toMatchObject({ session: { eventCount: count } });

  test("is refused to another person's machine, exactly as for an unknown session", async () => {
    const sessionId = await open();
    expect((await append(ann, sessionId, 'one')).status).toBe(isTaken);
    const unknown = `ses_${'0'.repeat(24)}`;
    for (const ask of [append, complete]) {
      const refused = await ask(bob, sessionId, 'forged');
      expect(refused).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect(refused.text).toBe((await ask(bob, unknown, 'forged')).text);
    }
    const [one, none] = await completeMany(bob, sessionId, unknown);
    expect({ ...one, sessionId: '' }).toEqual({ ...none, sessionId: '' });
    expect((await complete(ann, sessionId)).status).toBe(200);
    // It does not learn either that the session is closed, or that it was deleted.
    expect((await append(bob, sessionId, 'forged')).body).toMatchObject({ code: 'not_found' });
    await call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, world.ours.owner);
    expect((await append(bob, sessionId, 'forged')).body).toMatchObject({ code: 'not_found' });
    expect((await append(ann, sessionId, 'late')).body).toMatchObject({ code: 'session_deleted' });
  });

  test('is allowed to every machine of the same person, and the readers see which one sent what', async () => {
    const sessionId = await open();
    await append(ann, sessionId, 'one', 'two');
    expect((await append(annToo, sessionId, 'three')).status).toBe(isTaken);
    await stored(sessionId, 3);
    const { body } = await sendersOf(sessionId);
    const { environmentId } = second;
    expect(body.senders).toMatchObject([{ environmentId, events: 1, firstSequence: 3, lastSequence: 3 }]);
    expect((await complete(annToo, sessionId)).status).toBe(200);
  });

  test('is allowed to a plain secret, which the readers see, too', async () => {
    const sessionId = await open();
    await append(world.ours.live, sessionId, 'one');
    expect((await append(ann, sessionId, 'two')).status).toBe(isTaken);
    await stored(sessionId, 2);
    const { body } = await sendersOf(sessionId);
    expect(body.senders).toHaveLength(1);
    expect(body.senders[0]).toMatchObject({ events: 1, firstSequence: 1 });
    expect((await complete(world.ours.live, sessionId)).status).toBe(200);
  });

  test('with a new secret of the same machine is not sending from another machine', async () => {
    const sessionId = await open();
    const again = await signInMachine(world.service, world.ours.member, 'laptop-of-ann');
    await registerMachine(world.service, again, 'laptop-of-ann');
    expect((await append(again, sessionId, 'one')).status).toBe(isTaken);
    await stored(sessionId, 1);
    expect((await sendersOf(sessionId)).body).toEqual({ senders: [] });
  });

  test("is refused to a machine's secret even after its machine was given to nobody", async () => {
    const { service, ours } = world;
    const secret = await signInMachine(service, ours.admin, 'laptop-of-nobody');
    const machine = await registerMachine(service, secret, 'laptop-of-nobody');
    const body = { userId: null };
    const person = `/v1/organizations/me/environments/${machine.environmentId}/person`;
    expect((await service.call('PUT', person, { as: ours.owner, body })).status).toBe(200);
    service.clock.now += 5_000;
    expect((await append(secret, await open(), 'forged')).status).toBe(404);
    expect((await append(secret, await open(secret, machine), 'own')).status).toBe(isTaken);
  });

  test('is refused within 5 s once the session belongs to somebody else', async () => {
    const { service, ours } = world;
    const plain = await issueSecret(service, ours.owner, 'live');
    const machine = await registerMachine(service, plain, 'shared-machine');
    const sessionId = await open(plain, machine);
    const person = `/v1/organizations/me/environments/${machine.environmentId}/person`;
    await service.call('PUT', person, { as: ours.owner, body: { userId: ours.memberId } });
    service.clock.now += 5_000;
    expect((await append(ann, sessionId, 'mine')).status).toBe(isTaken);
    expect((await append(bob, sessionId, 'forged')).status).toBe(404);
  });

  test("finds a session that another person's machine still writes to as foreign, and a completed one as before", async () => {
    const capture = async (as: string, machine: Machine) => {
      const session = { clientKey: 'k'.repeat(30), ...openingOn(machine) };
      return (await call('POST', '/v1/captured-sessions', as, { sessions: [session] })).body.results[0];
    };
    const opened = await capture(ann, laptop);
    expect(opened.outcome).toBe('opened');
    expect(await capture(bob, other)).toEqual({ clientKey: 'k'.repeat(30), outcome: 'foreign' });
    expect((await capture(annToo, second)).outcome).toBe('found');
    await complete(ann, opened.session.sessionId);
    expect(await capture(bob, other)).toMatchObject({ outcome: 'found', session: { status: 'completed' } });
  });

  test('names its senders only to those who may read the session', async () => {
    const opening = openingOn(laptop, 'facts');
    const { sessionId } = (await call('POST', '/v1/sessions', ann, opening)).body;
    expect((await sendersOf(sessionId)).status).toBe(200);
    expect((await sendersOf(sessionId, world.ours.admin)).status).toBe(403);
  });
});
