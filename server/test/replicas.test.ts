import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { again, LOGS, type TestStore } from './engines.ts';
import { openSession } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { startWorld, type World } from './world.ts';

/** An embedded store has one process. */
const SHARED = LOGS.filter((engine) => engine !== 'sqlite');

describe.skipIf(SHARED.length === 0)('two replicas', () => {
  describe.each(SHARED)('on %s', (engine) => {
    let world: World;
    let store: TestStore;
    let other: TestService;
    beforeAll(async () => {
      world = await startWorld(engine);
      store = await again(world.service.store);
      other = await startTestService(engine, {}, store);
    });
    afterAll(async () => {
      await other.close();
      await store.close();
      await world.service.close();
    });

    test('a revoked secret is refused at once by one replica, and within five seconds by the other', async () => {
      const { service, ours } = world;
      const issued = await service.call('POST', '/v1/organizations/me/secrets', { as: ours.owner });
      const { value, secretId } = issued.body;
      const here = async () => (await service.call('GET', '/v1/secret', { as: value })).status;
      const there = async () => (await other.call('GET', '/v1/secret', { as: value })).status;
      expect([await here(), await there()]).toEqual([200, 200]);
      await service.call('DELETE', `/v1/organizations/me/secrets/${secretId}`, { as: ours.owner });
      expect(await here()).toBe(401);
      other.clock.now += 5_000;
      expect(await there()).toBe(401);
    });

    test('a revoked machine has no open session on either replica', async () => {
      const { service, ours } = world;
      const sessionId = await openSession(service, ours.live, ours);
      const append = (on: TestService) =>
        on.call('POST', `/v1/sessions/${sessionId}/events`, {
          as: ours.live,
          body: { events: [{ eventType: 'notice' }] },
        });
      expect((await append(other)).status).toBe(other.isAsync ? 202 : 200);
      await service.call('DELETE', `/v1/organizations/me/environments/${ours.environmentId}`, { as: ours.owner });
      for (const on of [other, service]) expect(await append(on)).toMatchObject({ status: 409 });
      const open = { environmentId: ours.environmentId, agentInstallationId: ours.installationId };
      const refused = await other.call('POST', '/v1/sessions', { as: ours.live, body: open });
      expect(refused).toMatchObject({ status: 400, body: { code: 'environment_unusable' } });
    });

    test('one key sent to both replicas at once is stored once', async () => {
      const { service, theirs } = world;
      for (let round = 0; round < 20; round++) {
        const send = async (on: TestService): Promise<string> => {
          const reply = await on.call('POST', `/v1/sessions/${theirs.sessionId}/events`, {
            as: theirs.live,
            headers: { 'idempotency-key': `round-${round}` },
            body: { events: [{ eventType: 'notice', payload: { round } }] },
          });
          return reply.body.code === 'idempotency_in_progress' ? send(on) : reply.text;
        };
        const [here, there] = await Promise.all([send(service), send(other)]);
        expect(here).toBe(there);
        expect(JSON.parse(String(here))).toMatchObject({ firstSequence: 3 + round, lastSequence: 3 + round });
      }
    });

    test('appends to one session through both replicas leave no gap', async () => {
      const { service, theirs } = world;
      const sessionId = await openSession(service, theirs.live, theirs);
      const replies = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          (index % 2 === 0 ? service : other).call('POST', `/v1/sessions/${sessionId}/events`, {
            as: theirs.live,
            body: { events: [{ eventType: 'notice' }, { eventType: 'notice' }] },
          }),
        ),
      );
      const firsts = replies.map(({ body }) => body.firstSequence).sort((a, b) => a - b);
      expect(firsts).toEqual(Array.from({ length: 60 }, (_, index) => 1 + 2 * index));
    });
  });
});
