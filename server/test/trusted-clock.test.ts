import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confirmClock, TrustedClock } from '../trusted-clock.ts';
import { again, ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession, registerMachine, type Tenant } from './factories.ts';
import { serve, type TestService } from './harness.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A process with clocks that the test moves. */
class Process {
  now: number;
  ran = 0;
  readonly log: string[] = [];
  readonly clock: TrustedClock;

  constructor(store: TestStore, now: number) {
    const note = (...words: unknown[]) => void this.log.push(String(words.at(-1)));
    const log = { warn: note, info: note } as unknown as ConstructorParameters<typeof TrustedClock>[0]['log'];
    this.now = now;
    this.clock = new TrustedClock({ db: store.db, now: () => this.now, ran: () => this.ran, log });
  }

  async pass(ms: number): Promise<boolean> {
    this.now += ms;
    this.ran += ms;
    return (await this.clock.time()) !== undefined;
  }
}

describe.each(ENGINES)('the age of data on %s', (engine) => {
  const START = Date.parse('2026-11-21T09:00:00.000Z');
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore(engine);
  });
  afterAll(() => store.dispose());

  test('counts while the service runs, and after it was off for less than a day', async () => {
    const first = new Process(store, START);
    for (let hour = 0; hour < 100; hour++) expect(await first.pass(HOUR_MS)).toBe(true);
    const second = new Process(store, first.now + 0.9 * DAY_MS);
    expect([await second.pass(0), second.log]).toEqual([true, []]);
  });

  test('does not count after a week off, until the service has run for a day', async () => {
    const before = new Process(store, START + 10 * DAY_MS);
    await confirmClock(store.db, before.now);
    const after = new Process(store, before.now + 7 * DAY_MS);
    for (let hour = 0; hour < 24; hour++) expect(await after.pass(hour === 0 ? 0 : HOUR_MS)).toBe(false);
    expect(after.log).toEqual([expect.stringMatching(/^nothing is deleted because of its age: .*`clock confirm`/)]);
    expect(after.clock.isDoubted).toBe(true);
    expect(await after.pass(HOUR_MS)).toBe(true);
    expect([after.clock.isDoubted, after.log.length]).toEqual([false, 2]);
    expect(await new Process(store, after.now).pass(0)).toBe(true);
  });

  test('counts again at once when an operator confirms the clock', async () => {
    const late = new Process(store, START + 100 * DAY_MS);
    expect(await late.pass(0)).toBe(false);
    await confirmClock(store.db, late.now);
    expect(await late.pass(0)).toBe(true);
  });

  test('does not count for a replica with a wrong clock as long as another replica runs', async () => {
    await confirmClock(store.db, START);
    const other = engine === 'postgres' ? await again(store) : store;
    const [right, wrong] = [new Process(store, START), new Process(other, START + 400 * DAY_MS)];
    for (let hour = 0; hour < 100; hour++) {
      expect(await right.pass(HOUR_MS)).toBe(true);
      expect(await wrong.pass(HOUR_MS)).toBe(false);
    }
    if (other !== store) await other.close();
  });
});

describe.each(ENGINES)('a service on %s whose clock is 400 days ahead', (engine) => {
  let store: TestStore;
  let service: TestService;
  let ours: Tenant;
  let sessionId: string;
  let late: number;
  beforeAll(async () => {
    store = await openTestStore(engine);
    service = await serve(store, { isShared: true });
    ours = await createTenant(service);
    sessionId = await openSession(service, ours.live, await registerMachine(service, ours.live));
    const policy = { retention: [{ target: { kind: 'organization' }, contentDays: 90, factsDays: 365 }] };
    const url = '/v1/organizations/me/policy';
    expect((await service.call('PUT', url, { as: ours.owner, body: policy })).status).toBe(200);
    late = service.clock.now + 400 * DAY_MS;
    await service.close();
  });
  afterAll(() => store.dispose());

  const whileRunning = async (work: (service: TestService) => Promise<void>) => {
    const started = await serve(store, { isShared: true, earlier: service, at: late });
    await work(started).finally(() => started.close());
  };
  const statusOf = async (running: TestService) =>
    (await running.call('GET', `/v1/organizations/me/sessions/${sessionId}`, { as: ours.owner })).status;

  test('deletes no session, and its log and the policy say so, until the clock is confirmed', async () => {
    await whileRunning(async (running) => {
      await expect.poll(() => running.log.join()).toContain('nothing is deleted because of its age');
      const { body } = await running.call('GET', '/v1/organizations/me/policy', { as: ours.owner });
      expect(body.retentionWaits).toBe(true);
      expect(await statusOf(running)).toBe(200);
    });
    await confirmClock(store.db, late);
    await whileRunning(async (running) => {
      await expect.poll(() => statusOf(running)).toBe(404);
      const { body } = await running.call('GET', '/v1/organizations/me/policy', { as: ours.owner });
      expect(body.retentionWaits).toBeUndefined();
    });
  });
});
