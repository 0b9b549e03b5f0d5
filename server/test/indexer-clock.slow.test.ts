import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SessionLog } from '../ingest/session-log.ts';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession, registerMachine } from './factories.ts';
import { startTestService } from './harness.ts';
import { startIndexer } from './indexing.ts';

const LONG_MS = 60_000;

const framed = (length: number) => Array.from({ length }, () => ({ eventType: 'notice', payload: Buffer.from('{}') }));

describe.each(ENGINES)('the indexer on %s', (engine) => {
  let store: TestStore;
  let organizationId: string;
  let sessionId: string;
  let append: () => Promise<void>;

  beforeAll(async () => {
    store = await openTestStore(engine);
    const service = await startTestService(engine, {}, store);
    const tenant = await createTenant(service);
    organizationId = tenant.organizationId;
    sessionId = await openSession(service, tenant.live, await registerMachine(service, tenant.live));
    await service.close();
    const log = new SessionLog({ db: store.db, journal: store.journal, committed: () => undefined, now: Date.now });
    const place = { organizationId, plane: 'live', sessionId, sender: 'a' } as const;
    append = async () =>
      void (await log.append({ ...place, idempotencyKey: null, fingerprint: '', events: framed(1) }));
  });
  afterAll(() => store.dispose());

  test('waits for more events of an open session, until it is read, has a slice of events, or ends', async () => {
    const { indexer, told } = startIndexer(store, { gatherOpenMs: 10 * LONG_MS });
    await indexer.catchUp();
    const note = (eventCount: number, events: number, status: 'active' | 'completed' = 'active') =>
      indexer.note({ organizationId, sessionId, status, eventCount, events: framed(events) });
    const derived = (times: number) => expect.poll(() => told.length, { timeout: LONG_MS }).toBe(times);
    await append();
    note(1, 1);
    await derived(1);
    await append();
    note(2, 1);
    await pause(500);
    expect([told.length, indexer.waiting(), await indexer.isCatchingUp(organizationId)]).toEqual([1, 1, false]);
    await indexer.reachNoted('org_of-others', LONG_MS);
    expect(told).toHaveLength(1);
    await indexer.reachNoted(organizationId, LONG_MS);
    expect([told.length, indexer.waiting()]).toEqual([2, 0]);
    await append();
    note(258, 200);
    note(314, 56);
    await derived(3);
    await append();
    note(315, 1, 'completed');
    await derived(4);
    await indexer.close();
  });

  test('derives an open session once for all events of its wait', async () => {
    const { indexer, told } = startIndexer(store, { gatherOpenMs: 1_000 });
    await indexer.catchUp();
    for (let n = 0; n < 5; n++) {
      await append();
      indexer.note({ organizationId, sessionId, status: 'active', eventCount: 9, events: framed(1) });
      await pause(150);
    }
    await expect.poll(() => told, { timeout: LONG_MS }).toEqual([sessionId]);
    await indexer.close();
  });

  test('derives at most 200 sessions for one search, and the others at their time', async () => {
    const { indexer } = startIndexer(store, { gatherOpenMs: 10 * LONG_MS });
    const note = (id: string) =>
      indexer.note({ organizationId, sessionId: id, status: 'active', eventCount: 9, events: framed(1) });
    for (let n = 0; n < 250; n++) note(`ses_${n}`);
    await indexer.reachNoted(organizationId, LONG_MS);
    expect(indexer.waiting()).toBe(50);
    await indexer.close();
  });
});
