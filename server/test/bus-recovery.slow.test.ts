import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type NatsServer, startNatsServer } from '../../test/nats.ts';
import { startWire, type Wire } from '../../test/wire.ts';
import { openStore } from '../store/open.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';
import { appendTexts, createTenant, openSession, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

/** The longest time for an answer to any request during any fault. */
const MAX_ANSWER_MS = 10_000;
/** Time limits after a fault is repaired. */
const APPENDS_AGAIN = { timeout: 5_000, interval: 50 };
const READABLE_AGAIN = { timeout: 10_000, interval: 50 };

describe.runIf(inject('natsUrl'))('recovery on an event bus', () => {
  let nats: NatsServer;
  let own: TestStore;
  let wire: Wire;
  let writer: TestService;
  let replica: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    nats = await startNatsServer();
    own = await openTestStore('postgres');
    wire = await startWire(Number(new URL(own.databaseUrl as string).port));
    const far = new URL(own.databaseUrl as string);
    far.port = String(wire.port);
    const open = async (): Promise<TestStore> => {
      const { bus } = await attach(own.dataDir, own.databaseUrl, nats.url);
      const store = await openStore({ dataDir: own.dataDir, databaseUrl: far.href, onError: () => undefined });
      return { ...own, ...store, bus };
    };
    writer = await startTestService('bus', {}, await open());
    replica = await startTestService('bus', { ROLE: 'api' }, await open());
    tenant = await createTenant(writer);
  });
  afterAll(async () => {
    for (const { app, store } of [replica, writer]) {
      await app.close();
      await store.bus?.close();
      await store.close();
    }
    await wire.cut();
    await own.dispose();
    await nats.dispose();
  });

  /** Opens sessions that the replica does not know yet, with several messages on the bus each. */
  async function openMany(count: number): Promise<string[]> {
    const sessions = await Promise.all(Array.from({ length: count }, () => openSession(writer, tenant.live)));
    for (const text of ['one', 'two']) {
      await Promise.all(sessions.map((sessionId) => appendTexts(writer, tenant, sessionId, [text])));
    }
    return sessions;
  }
  const countOf = async (sessionId: string) => {
    const query = own.db.selectFrom('sessions').select('event_count').where('session_id', '=', sessionId);
    return (await query.executeTakeFirst().catch(() => undefined))?.event_count;
  };
  async function timed<Answer>(work: Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
    const began = performance.now();
    return { answer: await work, ms: performance.now() - began };
  }
  const slowest = (timings: readonly { ms: number }[]) => Math.max(...timings.map(({ ms }) => ms));

  test('of the bus: a replica answers every append in time, and accepts all of them soon after the restart', async () => {
    const sessions = await openMany(30);
    const during = sessions.map((sessionId, at) =>
      timed(appendTexts(replica, tenant, sessionId, ['three'], `key-${at}`)),
    );
    await pause(3);
    await nats.kill();
    await pause(1_000);
    await nats.start();
    const retry = async (sessionId: string, at: number) =>
      expect
        .poll(async () => (await appendTexts(replica, tenant, sessionId, ['three'], `key-${at}`)).status, APPENDS_AGAIN)
        .toBe(202);
    await Promise.all(sessions.map(retry));
    expect(slowest(await Promise.all(during))).toBeLessThan(MAX_ANSWER_MS);
    await expect
      .poll(async () => new Set(await Promise.all(sessions.map(countOf))), READABLE_AGAIN)
      .toEqual(new Set([3]));
  });

  test('of a silent PostgreSQL: appends to known sessions are accepted, and are readable soon afterwards', async () => {
    const sessions = await openMany(5);
    await Promise.all(sessions.map((sessionId) => appendTexts(replica, tenant, sessionId, ['three'])));
    wire.trouble('silent');
    const timings: { ms: number; answer: { status: number } }[] = [];
    for (const service of [writer, replica]) {
      // The clock moves, so the secret is looked up again.
      service.clock.now += 10_000;
      for (const sessionId of sessions) {
        timings.push(await timed(appendTexts(service, tenant, sessionId, ['during'])));
      }
    }
    expect(timings.map(({ answer }) => answer.status)).toEqual(timings.map(() => 202));
    expect(slowest(timings)).toBeLessThan(2_000);
    wire.trouble('none');
    await expect
      .poll(async () => new Set(await Promise.all(sessions.map(countOf))), READABLE_AGAIN)
      .toEqual(new Set([5]));
  });
});
