import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { find, said, sessionWith } from './searched.ts';
import { startWorld, type World } from './world.ts';

describe.each(ENGINES)('long reads on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  test('beyond the limit of one organization get 503 with a time to retry, and another organization is answered', async () => {
    const { service, ours, theirs } = world;
    const ask = async (as: string) => (await service.call('GET', '/v1/organizations/me/search?q=two', { as })).status;
    const many = Array.from({ length: 300 }, () => ask(ours.member));
    expect(await ask(theirs.member)).toBe(200);
    expect(new Set(await Promise.all(many))).toEqual(new Set([200, 503]));
    expect(await ask(ours.member)).toBe(200);
  });
});

describe.each(ENGINES)('an abandoned search on %s', (engine) => {
  let store: TestStore;
  let service: TestService;
  let ours: Tenant;
  /** Until the gate opens, no query of a long read is answered. */
  const gate = Promise.withResolvers<void>();
  let questions = 0;
  beforeAll(async () => {
    store = await openTestStore(engine);
    const db = store.longReads.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        questions++;
        await gate.promise;
        return result;
      },
    });
    service = await startTestService(engine, {}, { ...store, longReads: { ...store.longReads, db } });
    ours = await createTenant(service);
    await sessionWith(service, ours, await registerMachine(service, ours.live), [said('two words')]);
    await service.app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    await service.app.close();
    await store.dispose();
  });

  test('sends no further queries to the store, and delays nobody behind it', async () => {
    const { port } = service.app.server.address() as { port: number };
    const url = `http://127.0.0.1:${port}/v1/organizations/me/search?q=%22two+words%22`;
    const leaving = new AbortController();
    let [arrived, left] = [0, 0];
    service.app.server.on('request', (_, response) => {
      arrived++;
      response.on('close', () => left++);
    });
    const asked = Array.from({ length: 100 }, () =>
      fetch(url, { headers: { authorization: `Bearer ${ours.member}` }, signal: leaving.signal }).catch(() => 'left'),
    );
    await expect.poll(() => arrived).toBe(100);
    await expect.poll(() => questions).toBeGreaterThan(0);
    await pause(100);
    const begun = questions;
    // One organization may run at most four at once.
    expect(begun).toBeLessThanOrEqual(4);
    leaving.abort();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['left']));
    await expect.poll(() => left).toBe(100);
    gate.resolve();
    const reply = await find(service, ours.member, { q: '"two words"' });
    expect([reply.status, reply.body.sessions.length]).toEqual([200, 1]);
    const all = questions;
    await find(service, ours.member, { q: '"two words"' });
    expect(all - begun).toBe(questions - all);
    expect(service.log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });
});
