import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seeded, times } from '../../contract/test/runs.ts';
import { openStore } from '../store/open.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { startTestService, type TestService } from './harness.ts';
import { type MessageWire, startMessageWire } from './message-wire.ts';
import { type AnyRouteName, RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { createRandom } from './seed.ts';
import { createWorld, type World } from './world.ts';

/** Routes that need no store, or that never end. */
const LEFT_OUT: AnyRouteName[] = ['getConfig', 'streamChanges'];
/** Routes that destroy things that the other requests need: they are called on the other organization. */
const ENDING: AnyRouteName[] = ['revokeSecret', 'revokeEnvironment', 'completeSession', 'passOwnership'];
const ROUTES = ROUTE_NAMES.filter((route) => !LEFT_OUT.includes(route));

/** How fast the number of messages before the cut grows: a long request is not cut behind each of its messages. */
const GROWTH = 0.4 / times(1);

describe.skipIf(!ENGINES.includes('postgres'))('a connection to PostgreSQL that is cut between two messages', () => {
  let own: TestStore;
  let wire: MessageWire;
  let store: TestStore;
  let service: TestService;
  let world: World;
  const random = createRandom();
  beforeAll(async () => {
    own = await openTestStore('postgres');
    const url = new URL(String(own.databaseUrl));
    wire = await startMessageWire(Number(url.port));
    url.port = String(wire.port);
    store = { ...own, ...(await openStore({ dataDir: own.dataDir, databaseUrl: url.href, onError: () => undefined })) };
    service = await startTestService('postgres', { RATE_LIMIT_SECRET: 1e6, RATE_LIMIT_USER: 1e6 }, store);
    world = await createWorld(service);
  });
  afterAll(async () => {
    await service.close().catch(() => undefined);
    await store.close().catch(() => undefined);
    await wire.close();
    await own.dispose();
  });

  test.each(ROUTES)(`or within a message makes %s answer as documented, never 500 ${seeded}`, async (route) => {
    const { replies, errors, auth } = TABLE[route];
    const documented = [...Object.keys(replies).map(Number), ...errors];
    const asked = ENDING.includes(route) ? { ...world, ours: world.theirs } : world;
    let cuts = 0;
    let unavailable = 0;
    for (let messages = 0; ; messages += 1 + Math.floor(random() * GROWTH * messages)) {
      wire.cutAfter(messages, random() < 0.5);
      const reply = await request(service, route, RIGHT[route](asked), RIGHT_CALLER[auth](asked));
      const wasCut = wire.wasCut();
      expect(documented, `behind ${messages} messages: ${reply.text}`).toContain(reply.status);
      if (reply.status === 503) {
        unavailable++;
        expect(reply.headers['retry-after'], reply.text).toBe('1');
      }
      if (!wasCut) break;
      cuts++;
    }
    expect(cuts).toBeGreaterThan(0);
    expect(unavailable).toBeGreaterThan(0);
  });
});
