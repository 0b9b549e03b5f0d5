import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { startTestService, type TestService } from './harness.ts';
import { RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { expectProblem } from './shape.ts';
import { openWiredStore, type WiredStore } from './wired.ts';
import { createWorld, type World } from './world.ts';

/** Routes that answer from the configuration in memory. */
const WITHOUT_STORE = ['getConfig'];

describe.each(ENGINES)('an outage of %s', (engine) => {
  /** PostgreSQL is cut off; the embedded engine's threads end. */
  let wired: WiredStore | undefined;
  let store: TestStore;
  let service: TestService;
  let world: World;
  beforeAll(async () => {
    wired = engine === 'postgres' ? await openWiredStore() : undefined;
    store = wired?.far ?? (await openTestStore(engine));
    service = await startTestService(engine, {}, store);
    world = await createWorld(service);
    await (wired ? wired.wire.cut() : store.close());
  });
  afterAll(async () => {
    await service.close().catch(() => undefined);
    await (wired ?? store).dispose();
  });

  test.each(ROUTE_NAMES.filter((name) => !WITHOUT_STORE.includes(name)))('%s answers 503', async (route) => {
    const reply = await request(service, route, RIGHT[route](world), RIGHT_CALLER[TABLE[route].auth](world));
    expectProblem(reply, 503, 'service_unavailable');
  });

  test.each(WITHOUT_STORE)('%s needs no store', async () => {
    expect((await service.call('GET', '/config')).status).toBe(200);
  });

  test('an invalid request gets its usual error if that needs no store', async () => {
    expectProblem(await service.call('GET', '/v1/me', { as: 'nonsense' }), 401, 'token_invalid');
    expectProblem(await service.call('GET', '/v1/secret', { as: 'sk_live_typo' }), 401, 'secret_invalid');
    expectProblem(await service.call('GET', '/nowhere'), 404, 'not_found');
  });

  if (engine === 'postgres') {
    test('everything works again after the outage', async () => {
      await wired?.wire.mend();
      const { ours } = world;
      const url = `/v1/sessions/${ours.sessionId}/events`;
      const body = { events: [{ eventType: 'notice' }] };
      expect(await service.call('POST', url, { as: ours.live, body })).toMatchObject({
        status: 200,
        body: { firstSequence: 3 },
      });
      expect((await service.call('GET', '/health')).status).toBe(200);
    });
  }
});
