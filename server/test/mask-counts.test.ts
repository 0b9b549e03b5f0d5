import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { appendTexts, createTenant, openSession, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

const TEXT = 'harbour-4711';

/** While the gate is closed, no query of a long read is answered. */
describe.each(ENGINES)('counting the places of a text on %s', (engine) => {
  let store: TestStore;
  let service: TestService;
  let ours: Tenant;
  let theirs: Tenant;
  let gate: PromiseWithResolvers<void>;
  let queries: number;

  beforeEach(async () => {
    [gate, queries] = [Promise.withResolvers<void>(), 0];
    store = await openTestStore(engine);
    const db = store.longReads.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        queries++;
        await gate.promise;
        return result;
      },
    });
    service = await startTestService(engine, {}, { ...store, longReads: { ...store.longReads, db } });
    [ours, theirs] = [await createTenant(service), await createTenant(service)];
  });
  afterEach(async () => {
    gate.resolve();
    await service.app.close();
    await store.dispose();
  });

  async function sessionOf(tenant: Tenant): Promise<string> {
    const sessionId = await openSession(service, tenant.live);
    await appendTexts(service, tenant, sessionId, [`the word is ${TEXT}`]);
    return sessionId;
  }
  const pathOf = (sessionId: string) => `/v1/organizations/me/sessions/${sessionId}/mask`;
  const count = (sessionId: string, as: string) =>
    service.call('POST', pathOf(sessionId), { as, body: { text: TEXT, dryRun: true } });

  test('many times for one member is behind a single count of another organization', async () => {
    const [busy, single] = [await sessionOf(ours), await sessionOf(theirs)];
    const answered: string[] = [];
    const many = Array.from({ length: 40 }, () =>
      count(busy, ours.member).then(({ status }) => answered.push(`ours ${status}`)),
    );
    await expect.poll(() => queries).toBeGreaterThan(0);
    await pause(200);
    const ofOurs = queries;
    const other = count(single, theirs.member).then(({ status, body }) =>
      answered.push(`theirs ${status} ${body.places}`),
    );
    // It begins at once, while all others of the busy member wait.
    await expect.poll(() => queries).toBeGreaterThan(ofOurs);
    gate.resolve();
    await Promise.all([...many, other]);
    // Four counts of the busy member have begun before, and the thread serves the organizations in turn.
    expect(answered.indexOf('theirs 200 1')).toBeLessThan(9);
    expect(answered.filter((one) => one === 'ours 200')).toHaveLength(40);
  });

  test('for askers who left costs nothing, and delays nobody', async () => {
    const sessionId = await sessionOf(ours);
    await service.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = service.app.server.address() as { port: number };
    const leaving = new AbortController();
    let [arrived, left] = [0, 0];
    service.app.server.on('request', (_, response) => {
      arrived++;
      response.on('close', () => left++);
    });
    const asked = Array.from({ length: 60 }, () =>
      fetch(`http://127.0.0.1:${port}${pathOf(sessionId)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ours.member}`, 'content-type': 'application/json' },
        body: JSON.stringify({ text: TEXT, dryRun: true }),
        signal: leaving.signal,
      }).catch(() => 'left'),
    );
    await expect.poll(() => arrived).toBe(60);
    await expect.poll(() => queries).toBeGreaterThan(0);
    leaving.abort();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['left']));
    await expect.poll(() => left).toBe(60);
    const begun = queries;
    expect(begun).toBeLessThanOrEqual(4);
    gate.resolve();
    expect((await count(sessionId, ours.member)).body).toMatchObject({ places: 1 });
    const all = queries;
    await count(sessionId, ours.member);
    expect(all - begun).toBe(queries - all);
    expect(service.log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });
});
