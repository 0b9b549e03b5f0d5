import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type NatsServer, startNatsServer } from '../../test/nats.ts';
import { startWire, type Wire } from '../../test/wire.ts';
import { openStore } from '../store/open.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';
import { event, issueSecret, openSession } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { expectProblem } from './shape.ts';
import { createWorld, type World } from './world.ts';

const append = (service: TestService, as: string, sessionId: string, text: string, key?: string) =>
  service.call('POST', `/v1/sessions/${sessionId}/events`, {
    as,
    body: { events: [event(text)] },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });

/** Numbers and texts of all events of the session. */
async function read({ service, ours }: World, sessionId: string): Promise<[number, string][]> {
  const url = `/v1/organizations/me/sessions/${sessionId}/events?limit=500`;
  const { body } = await service.call('GET', url, { as: ours.member });
  return body.events.map((one: { sequence: number; payload: { text: string } }) => [one.sequence, one.payload.text]);
}

describe.runIf(inject('natsUrl'))('while PostgreSQL is away, a service on an event bus', () => {
  let own: TestStore;
  let wire: Wire;
  let replicas: [TestService, TestService];
  let world: World;
  let closed = false;

  /** The store over a wire that can be cut. */
  async function farStore(): Promise<TestStore> {
    const url = new URL(own.databaseUrl as string);
    url.port = String(wire.port);
    const { bus } = await attach(own.dataDir, own.databaseUrl, own.busUrl);
    return {
      ...own,
      ...(await openStore({ dataDir: own.dataDir, databaseUrl: url.href, onError: () => undefined })),
      bus,
    };
  }

  beforeAll(async () => {
    own = await openTestStore('bus');
    wire = await startWire(Number(new URL(own.databaseUrl as string).port));
    const limited = { RATE_LIMIT_SECRET: 600 };
    replicas = [
      await startTestService('bus', limited, await farStore()),
      await startTestService('bus', limited, await farStore()),
    ];
    world = await createWorld(replicas[0]);
  });
  afterEach(async () => {
    if (closed) await wire.mend();
    closed = false;
  });
  afterAll(async () => {
    for (const { app, store } of replicas) {
      await app.close();
      await store.bus?.close();
      await store.close();
    }
    await own.dispose();
    await wire.cut();
  });
  const cut = async () => {
    await wire.cut();
    closed = true;
  };

  test('continues known sessions with known secrets, and all events are there afterwards', async () => {
    const { ours } = world;
    const [here, there] = replicas;
    const sessionId = await openSession(here, ours.live, ours);
    const first = await append(here, ours.live, sessionId, 'one', 'first');
    await there.call('GET', '/v1/secret', { as: ours.live });
    await cut();
    // The clock moves past the caches of the last seconds, so everything is looked up again.
    for (const { clock } of replicas) clock.now += 10_000;
    const texts = Array.from({ length: 20 }, (_, index) => `during ${index}`);
    const answers = [];
    for (const [index, text] of texts.entries()) {
      answers.push(await append(index % 2 === 0 ? here : there, ours.live, sessionId, text, `key-${index}`));
    }
    expect(answers.map(({ status, body }) => [status, body.firstSequence])).toEqual(
      texts.map((_, index) => [202, index + 2]),
    );
    expect((await append(there, ours.live, sessionId, 'one', 'first')).text).toBe(first.text);
    expectProblem(await append(there, ours.live, sessionId, 'two', 'first'), 400, 'idempotency_key_reused');
    const complete = { as: ours.live };
    expect((await there.call('POST', `/v1/sessions/${sessionId}/complete`, complete)).status).toBe(200);
    expectProblem(await append(here, ours.live, sessionId, 'late'), 409, 'session_closed');
    expectProblem(
      await here.call('POST', `/v1/sessions/${sessionId}/complete`, complete),
      409,
      'session_already_closed',
    );

    await wire.mend();
    closed = false;
    expect(await read(world, sessionId)).toEqual(['one', ...texts].map((text, index) => [index + 1, text]));
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const { session } = (await here.call('GET', url, { as: ours.member })).body;
    expect(session).toMatchObject({ status: 'completed', eventCount: 21 });
  });

  test('answers 503 if only the store has the answer', async () => {
    const { ours } = world;
    const [here] = replicas;
    await cut();
    const opening = { environmentId: ours.environmentId, agentInstallationId: ours.installationId };
    expectProblem(await here.call('POST', '/v1/sessions', { as: ours.live, body: opening }), 503);
    expectProblem(await append(here, ours.live, 'ses_nowhere', 'text'), 503);
    expectProblem(await append(here, world.theirs.test, ours.sessionId, 'text'), 503);
  });

  test('refuses a secret that another replica with access to PostgreSQL has revoked', async () => {
    const { ours } = world;
    const [here] = replicas;
    const near = await attach(own.dataDir, own.databaseUrl, own.busUrl);
    const other = await startTestService('bus', {}, near);
    const secret = await issueSecret(here, ours.owner, 'live');
    const { secretId } = (await here.call('GET', '/v1/secret', { as: secret })).body;
    await cut();
    here.clock.now += 10_000;
    expect((await append(here, secret, ours.sessionId, 'before')).status).toBe(202);
    const url = `/v1/organizations/me/secrets/${secretId}`;
    expect((await other.call('DELETE', url, { as: ours.owner })).status).toBe(200);
    await expect.poll(async () => (await append(here, secret, ours.sessionId, 'after')).status).toBe(503);
    await other.close();
    await near.close();
  });
});

describe.runIf(inject('natsUrl'))('while the bus is away, a service on it', () => {
  const LOST = expect.stringMatching(/^the event bus had no streams for this PostgreSQL/);
  /** Errors that the processes logged. */
  const said = new Set<string>();
  const log = { info: () => undefined, warn: () => undefined, error: (sentence: string) => void said.add(sentence) };
  let server: NatsServer;
  let store: TestStore;
  let world: World;
  beforeAll(async () => {
    server = await startNatsServer();
    const own = await openTestStore('postgres');
    store = await attach(own.dataDir, own.databaseUrl, server.url, log);
    await own.close();
    world = await createWorld(await startTestService('bus', {}, store));
  });
  afterAll(async () => {
    await world.service.close();
    await store.dispose();
    await server.dispose();
  });

  test('refuses appends, shows stored events, revokes secrets, and continues when the bus is back', async () => {
    const { service, ours } = world;
    const sessionId = await openSession(service, ours.live, ours);
    expect((await append(service, ours.live, sessionId, 'one', 'first')).status).toBe(202);
    expect(await read(world, sessionId)).toEqual([[1, 'one']]);
    const heard: string[] = [];
    const stop = service.store.bus?.subscribeRevocations((id) => void heard.push(id));
    const secret = await issueSecret(service, ours.owner, 'live');
    const { secretId } = (await service.call('GET', '/v1/secret', { as: secret })).body;
    await server.kill();
    expectProblem(await append(service, ours.live, sessionId, 'two', 'second'), 503, 'service_unavailable');
    const url = `/v1/organizations/me/secrets/${secretId}`;
    expect((await service.call('DELETE', url, { as: ours.owner })).status).toBe(200);
    expectProblem(await append(service, secret, sessionId, 'two', 'second'), 401);
    const later = await openSession(service, ours.live, ours);
    const list = '/v1/organizations/me/sessions';
    const authorization = `Bearer ${ours.member}`;
    const listed = await service.app.inject({ method: 'GET', url: list, headers: { authorization } });
    expect(listed.statusCode).toBe(200);
    await server.start();
    await expect
      .poll(async () => (await append(service, ours.live, sessionId, 'two', 'second')).status, { timeout: 60_000 })
      .toBe(202);
    expect((await append(service, ours.live, later, 'opened meanwhile')).body).toMatchObject({ firstSequence: 1 });
    expect(await read(world, sessionId)).toEqual([
      [1, 'one'],
      [2, 'two'],
    ]);
    await expect.poll(() => heard).toContain(secretId);
    stop?.();
    expect(await read(world, later)).toEqual([[1, 'opened meanwhile']]);
  });

  test('continues behind the stored events if the bus comes back empty, and logs the loss', async () => {
    const { service, ours } = world;
    const far = await attach(store.dataDir, store.databaseUrl, server.url, log);
    const other = await startTestService('bus', { ROLE: 'api' }, far);
    const heard: string[] = [];
    const stop = service.store.bus?.subscribeRevocations((id) => void heard.push(id));
    const sessionId = await openSession(service, ours.live, ours);
    expect((await append(service, ours.live, sessionId, 'one', 'first')).status).toBe(202);
    expect((await append(other, ours.live, sessionId, 'two')).body).toMatchObject({ firstSequence: 2 });
    expect(await read(world, sessionId)).toHaveLength(2);
    await server.kill();
    server.wipe();
    await server.start();
    await expect
      .poll(async () => (await append(service, ours.live, sessionId, 'three', 'third')).status, { timeout: 60_000 })
      .toBe(202);
    await expect
      .poll(async () => (await append(other, ours.live, sessionId, 'four', 'fourth')).body.firstSequence)
      .toBe(4);
    expect((await append(other, ours.live, sessionId, 'one', 'first')).body).toMatchObject({ firstSequence: 1 });
    await expect.poll(() => service.store.bus?.backlog().catch(() => undefined)).toBeDefined();
    expect(await read(world, sessionId)).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
      [4, 'four'],
    ]);
    const secret = await issueSecret(service, ours.owner, 'live');
    const { secretId } = (await service.call('GET', '/v1/secret', { as: secret })).body;
    const url = `/v1/organizations/me/secrets/${secretId}`;
    expect((await service.call('DELETE', url, { as: ours.owner })).status).toBe(200);
    await expect.poll(() => heard).toContain(secretId);
    stop?.();
    await other.close();
    await far.close();
    expect([...said]).toContainEqual(LOST);
  });

  test('logs the loss too if a starting process finds nothing on the bus for a store with sessions', async () => {
    const { service, ours } = world;
    await openSession(service, ours.live, ours);
    said.clear();
    const empty = await startNatsServer();
    await (await attach(store.dataDir, store.databaseUrl, empty.url, log)).close();
    expect([...said]).toEqual([LOST]);
    said.clear();
    await (await attach(store.dataDir, store.databaseUrl, empty.url, log)).close();
    const fresh = await openTestStore('postgres');
    await (await attach(fresh.dataDir, fresh.databaseUrl, empty.url, log)).close();
    expect(said.size).toBe(0);
    await fresh.dispose();
    await empty.dispose();
  });
});
