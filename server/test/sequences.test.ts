import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../contract/test/runs.ts';
import { ENGINES } from './engines.ts';
import { openSession, registerMachine } from './factories.ts';
import { createRandom } from './seed.ts';
import { startWorld, type World } from './world.ts';

interface Stored {
  sequence: number;
  eventId: string;
  payload: { from: string; at: number };
}

describe.each(ENGINES)('sequences on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  test(`200 simultaneous appends to five sessions leave no gap, no duplicate and no split batch ${seeded}`, async () => {
    const { service, ours } = world;
    const random = createRandom();
    const machine = await registerMachine(service, ours.live);
    const sessionIds = await Promise.all(Array.from({ length: 5 }, () => openSession(service, ours.live, machine)));
    const batches = Array.from({ length: 200 }, (_, index) => ({
      sessionId: String(sessionIds[Math.floor(random() * 5)]),
      from: `batch-${index}`,
      count: 1 + Math.floor(random() * 10),
    }));
    const replies = await Promise.all(
      batches.map(({ sessionId, from, count }) => {
        const events = Array.from({ length: count }, (_, at) => ({ eventType: 'notice', payload: { from, at } }));
        const options = { as: ours.live, body: { events }, headers: { 'idempotency-key': from } };
        return service.call('POST', `/v1/sessions/${sessionId}/events`, options);
      }),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    for (const sessionId of sessionIds) {
      const url = `/v1/organizations/me/sessions/${sessionId}`;
      const { events } = (await service.call('GET', `${url}/events?limit=5000`, { as: ours.member })).body as {
        events: Stored[];
      };
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
      const { session } = (await service.call('GET', url, { as: ours.member })).body;
      expect(session.eventCount).toBe(events.length);
      for (const [index, { sessionId: target, from, count }] of batches.entries()) {
        if (target !== sessionId) continue;
        const { firstSequence, lastSequence } = replies[index]?.body ?? {};
        expect(lastSequence - firstSequence + 1).toBe(count);
        const stored = events.slice(firstSequence - 1, lastSequence).map(({ payload }) => payload);
        expect(stored).toEqual(Array.from({ length: count }, (_, at) => ({ from, at })));
      }
    }
  });

  test('of a simultaneous append and close, the append is either stored or refused', async () => {
    const { service, ours } = world;
    const machine = await registerMachine(service, ours.live);
    for (let round = 0; round < 10; round++) {
      const sessionId = await openSession(service, ours.live, machine);
      const append = () =>
        service.call('POST', `/v1/sessions/${sessionId}/events`, {
          as: ours.live,
          body: { events: [{ eventType: 'notice' }] },
        });
      const close = () => service.call('POST', `/v1/sessions/${sessionId}/complete`, { as: ours.live });
      const replies = await Promise.all([append(), append(), close(), append(), append(), close()]);
      const appended = replies.filter(({ body }) => 'accepted' in body);
      const refused = replies.filter(({ body }) => body.code === 'session_closed');
      expect(appended.length + refused.length).toBe(4);
      expect(replies.filter(({ body }) => body.code === 'session_already_closed')).toHaveLength(1);
      const url = `/v1/organizations/me/sessions/${sessionId}`;
      expect((await service.call('GET', url, { as: ours.member })).body.session).toMatchObject({
        eventCount: appended.length,
        status: 'completed',
      });
    }
  });
});
