import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readVersion } from '../derive/version.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, registerMachine, type Tenant, whenDerived } from './factories.ts';
import { serve, startTestService, type TestService } from './harness.ts';
import { sessionWith } from './searched.ts';

const MODEL = 'claude-opus-4-6';
const spent = {
  eventType: 'usage',
  payload: { responseId: 'r', model: MODEL, inputTokens: 1_000_000, occurredAt: '2026-11-20T12:00:00.000Z' },
};

const said = { eventType: 'user.message', payload: { text: 'spend it' } };

describe.each(ENGINES)('a start with other prices on %s', (engine) => {
  let store: TestStore;
  let service: TestService;
  let tenant: Tenant;
  let sessionId: string;
  let written: unknown;
  const chunks = () => store.db.selectFrom('session_chunks').selectAll().execute();
  const folder = mkdtempSync(join(tmpdir(), 'changed-prices-'));

  beforeAll(async () => {
    store = await openTestStore(engine);
    service = await startTestService(engine, {}, store);
    tenant = await createTenant(service);
    sessionId = await sessionWith(service, tenant, await registerMachine(service, tenant.live), [said, spent]);
    await whenDerived(service, tenant.member, sessionId, 2);
    written = await chunks();
  });
  afterAll(async () => {
    await service.close();
    await store.dispose();
    rmSync(folder, { recursive: true });
  });

  async function restart(input?: number) {
    const file = join(folder, `${input}.json`);
    const models = [{ model: MODEL, prices: [{ input, output: 1 }] }];
    writeFileSync(file, JSON.stringify({ date: '2026-11-21', models }));
    await service.close();
    const overrides = input === undefined ? {} : { PRICES_FILE: file };
    service = await serve(store, { earlier: service, isShared: true, overrides });
  }

  /** The costs of the session, of its day and of all sessions. */
  async function costs() {
    const get = async (path: string) =>
      (await service.call('GET', `/v1/organizations/me/${path}`, { as: tenant.member })).body;
    const [{ summary, usage }, overview] = [
      await get(`sessions/${sessionId}/facts`),
      await get('usage?from=2026-11-20&to=2026-11-20'),
    ];
    return [summary.cost, ...usage.map(({ cost }: { cost: number }) => cost), overview.total.cost];
  }

  test('derives earlier sessions again in the background, and a start with the same prices derives nothing', async () => {
    await expect.poll(costs, { timeout: 30_000 }).toEqual([5, 5, 5]);
    await restart(7);
    await expect.poll(costs, { timeout: 30_000 }).toEqual([7, 7, 7]);
    // The same rows with the same ids: no chunk was removed and indexed again.
    expect(await chunks()).toEqual(written);
    const facts = () => store.db.selectFrom('session_facts').select(['version', 'derived_through']).execute();
    const before = await facts();
    await restart(7);
    expect(await costs()).toEqual([7, 7, 7]);
    expect(await facts()).toEqual(before);
    await restart();
    await expect.poll(costs, { timeout: 30_000 }).toEqual([5, 5, 5]);
  }, 90_000);

  test('leaves what a process with later prices has derived', async () => {
    const [earlier, later] = [await readVersion(store.db, 'one'), await readVersion(store.db, 'two')];
    expect(later).toBe(earlier + 1);
    expect(await readVersion(store.db, 'two')).toBe(later);
    const both = await Promise.all(['three', 'three'].map((fingerprint) => readVersion(store.db, fingerprint)));
    expect(both).toEqual([later + 1, later + 1]);
  });
});
