import { setImmediate } from 'node:timers/promises';
import type { QueryExecutor } from 'kysely';
import { afterEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import type { Config } from '../config.ts';
import { newId } from '../ids.ts';
import { StorageQuotas } from '../ingest/quotas.ts';
import type { Db } from '../store/schema.ts';
import { LOGS, type TestEngine } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';
import { expectProblem } from './shape.ts';

const DAY = 86_400_000;
/** Four of these appends are more than a megabyte. */
const LARGE = { events: [{ eventType: 'notice', payload: { text: 'x'.repeat(255_000) } }] };

describe.each(LOGS)('the storage quota of an organization on %s', (engine) => {
  const services: TestService[] = [];
  let service: TestService;
  let ours: Tenant;
  let machine: Machine;
  /** All queries since the start of the service. */
  let queries: MockInstance<QueryExecutor['executeQuery']>;
  afterEach(async () => {
    for (const one of services.splice(0).reverse()) await one.close();
    vi.restoreAllMocks();
  });

  async function start(overrides: Partial<Config>, on: TestEngine = engine, shared?: TestService): Promise<void> {
    const now = service?.clock.now;
    service = await startTestService(on, overrides, shared?.store);
    service.stopRounds();
    queries = vi.spyOn(service.store.db.getExecutor(), 'executeQuery');
    if (shared && now) service.clock.now = now;
    services.push(service);
    if (shared) return;
    ours = await createTenant(service);
    machine = await registerMachine(service, ours.live);
  }

  const open = () =>
    service.call('POST', '/v1/sessions', {
      as: ours.live,
      body: { environmentId: machine.environmentId, agentInstallationId: machine.installationId },
    });
  const append = (sessionId: string, key?: string) =>
    service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: ours.live,
      body: LARGE,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  /** Waits for the read of the stored size, which runs in the background. @param ask a request that is refused */
  async function counted(ask: () => Promise<{ status: number }>): Promise<void> {
    expect((await ask()).status).toBeGreaterThanOrEqual(400);
    const read = await vi.waitFor(() => {
      const at = queries.mock.calls.findIndex(([query]) => query.sql.includes('sum(bytes) from stored_bytes'));
      expect(at).not.toBe(-1);
      return queries.mock.results[at]?.value;
    });
    await read;
    await setImmediate();
  }

  /** Appends until one append is refused. @returns the statuses */
  async function fill(sessionId: string): Promise<number[]> {
    await counted(() => append(newId('ses', 0)));
    const statuses: number[] = [];
    for (let count = 0; count < 8 && statuses.at(-1) !== 400; count++) {
      statuses.push((await append(sessionId, `key-${count}`)).status);
      await settled(service.store.bus);
    }
    return statuses;
  }

  test('of bytes a day refuses further appends, repeats acknowledged ones, and ends with the day', async () => {
    await start({ QUOTA_DAY_MB: 1 });
    const { sessionId } = (await open()).body;
    const stored = service.isAsync ? 202 : 200;
    expect(await fill(sessionId)).toEqual([stored, stored, stored, stored, 400]);
    const refused = await append(sessionId, 'key-new');
    expectProblem(refused, 400, 'quota_reached');
    expect(refused.body.error).toMatch(/QUOTA_DAY_MB/);
    expect((await append(sessionId, 'key-0')).headers['idempotency-replayed']).toBe('true');
    service.clock.now += DAY;
    expect((await append(sessionId, 'key-new')).status).toBe(stored);
  });

  test('of bytes is known to the next process, and has room again after sessions are deleted', async () => {
    const first = { QUOTA_GB: 0.001 };
    await start(first);
    const { sessionId } = (await open()).body;
    await fill(sessionId);
    const other = (await open()).body.sessionId;
    expectProblem(await append(other), 400, 'quota_reached');
    const before = service;
    await before.app.close();
    await start(first, engine, before);
    await append(other);
    await expect.poll(async () => (await append(other)).status).toBe(400);
    await service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: ours.admin });
    const halfAMinuteLater = async () => {
      service.clock.now += 30_000;
      return (await append(other)).status;
    };
    await expect.poll(halfAMinuteLater, { timeout: 20_000 }).toBeLessThan(300);
  });

  test('is shown with its use and the date when it will be full at the recent pace', async () => {
    await start({ QUOTA_GB: 0.01 });
    const { sessionId } = (await open()).body;
    await append(sessionId);
    await settled(service.store.bus);
    const read = async () => (await service.call('GET', '/v1/organizations/me/storage', { as: ours.member })).body;
    const first = await read();
    expect(first).toMatchObject({ quotaBytes: 10_000_000, bytesToday: first.bytes });
    expect(first.bytes).toBeGreaterThan(255_000);
    // All bytes of the week arrived today.
    expect(first.bytesAWeek).toBe(first.bytes);
    expect(first.fullInDays).toBe(Math.floor((10_000_000 - first.bytes) / (first.bytes / 7)));
    service.clock.now += 13 * DAY;
    await append(sessionId);
    await settled(service.store.bus);
    const second = await read();
    expect(second.bytes).toBe(2 * first.bytes);
    // Twice as many bytes in two weeks.
    expect(second).toMatchObject({ bytesToday: first.bytes, bytesAWeek: first.bytes });
  });

  test('counts 33,000 sessions exactly once although a write fails midway', async () => {
    await start({});
    const { db } = service.store;
    const { organizationId } = ours;
    const limits = { bytesADay: 0, bytes: 0 };
    let transactions = 0;
    const interrupted = {
      transaction() {
        if (++transactions === 2) throw new Error('the store is away');
        return db.transaction();
      },
    } as Db;
    const now = () => service.clock.now;
    const quotas = new StorageQuotas({ db: interrupted, limits, now, onError: () => expect.unreachable() });
    // More than fit into one statement of PostgreSQL or SQLite, at two parameters for each session.
    for (let count = 0; count < 33_000; count++) quotas.add({ organizationId, sessionId: `ses_${count}`, bytes: 6 });
    await expect(quotas.flush()).rejects.toThrow('the store is away');
    await quotas.flush();
    const [day] = await db
      .selectFrom('stored_days')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .execute();
    expect(Number(day?.bytes)).toBe(33_000 * 6);
  });
});

test('a store that cannot report its size is queried every few seconds, and delays no append', async () => {
  let failures = 0;
  const clock = { now: 0 };
  const limits = { bytesADay: 1, bytes: 1 };
  const quotas = new StorageQuotas({ db: {} as never, limits, now: () => clock.now, onError: () => failures++ });
  const batch = { organizationId: 'org_1', sessionId: 'ses_1', idempotencyKey: null };
  for (let count = 0; count < 100; count++) await quotas.assertRoom(batch);
  expect(failures).toBe(1);
  clock.now += 5_000;
  await quotas.assertRoom(batch);
  await vi.waitFor(() => expect(failures).toBe(2));
});
