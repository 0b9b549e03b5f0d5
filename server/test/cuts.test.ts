import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded } from '../../contract/test/runs.ts';
import type { Wire } from '../../test/wire.ts';
import { ENGINES } from './engines.ts';
import { startTestService, type TestService } from './harness.ts';
import { type AnyRouteName, RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { createRandom } from './seed.ts';
import { openWiredStore, type WiredStore } from './wired.ts';
import { createWorld, type World } from './world.ts';

const CUTS = 80;
const AT_ONCE = 8;
/** Turns of the event loop between the requests and the cut. */
const MAX_TURNS = 60;

/** Routes that would destroy the world, and routes that never end. */
const LEFT_OUT: AnyRouteName[] = ['revokeSecret', 'revokeEnvironment', 'completeSession', 'streamChanges'];
const ASKED = ROUTE_NAMES.filter((name) => !LEFT_OUT.includes(name));

describe.skipIf(!ENGINES.includes('postgres'))('a connection to PostgreSQL that is lost', () => {
  let wired: WiredStore;
  let wire: Wire;
  let service: TestService;
  let world: World;
  beforeAll(async () => {
    wired = await openWiredStore();
    ({ wire } = wired);
    const limits = { RATE_LIMIT_ADDRESS: 1_000_000, RATE_LIMIT_USER: 1_000_000 };
    service = await startTestService('postgres', limits, wired.far);
    world = await createWorld(service);
  });
  afterAll(async () => {
    await service.close().catch(() => undefined);
    await wired.dispose();
  });

  test(`at any moment of any request makes the service answer as documented, never 500 ${seeded}`, async () => {
    const random = createRandom();
    const statuses = new Map<number, number>();
    for (let cut = 0; cut < CUTS; cut++) {
      const asked = Array.from({ length: AT_ONCE }, () => ASKED[Math.floor(random() * ASKED.length)] as AnyRouteName);
      const running = asked.map((route) =>
        request(service, route, RIGHT[route](world), RIGHT_CALLER[TABLE[route].auth](world)),
      );
      const turns = Math.floor(random() * MAX_TURNS);
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      await wire.cut();
      await wire.mend();
      for (const [index, { status, text }] of (await Promise.all(running)).entries()) {
        const { replies, errors } = TABLE[asked[index] as AnyRouteName];
        expect([...Object.keys(replies).map(Number), ...errors], `${asked[index]}: ${text}`).toContain(status);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }
    // Enough cuts hit a request, and enough came after its answer.
    expect(statuses.get(503)).toBeGreaterThan(CUTS / 10);
    expect(statuses.get(200)).toBeGreaterThan(CUTS / 10);
  }, 120_000);

  test('is opened again', async () => {
    // The last cut may be noticed by only the first request after it.
    await expect.poll(async () => (await service.call('GET', '/health')).status).toBe(200);
  });
});
