import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Loss, type NatsServer, startNatsServer } from '../../test/nats.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';
import { appendTexts, createTenant, openSession, readTexts, type Tenant } from './factories.ts';
import { settled, startTestService, type TestService } from './harness.ts';

const TIMEOUT = { timeout: 60_000 };

describe.runIf(inject('natsUrl'))('a bus that lost its last writes with the power', () => {
  const said: string[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: (sentence: string) => void said.push(sentence) };
  let server: NatsServer;
  let store: TestStore;
  let service: TestService;
  let tenant: Tenant;
  beforeEach(async () => {
    said.length = 0;
    server = await startNatsServer();
    const own = await openTestStore('postgres');
    store = await attach(own.dataDir, own.databaseUrl, server.url, log);
    await own.close();
    service = await startTestService('bus', {}, store);
    tenant = await createTenant(service);
  });
  afterEach(async () => {
    await service.close();
    await store.dispose();
    await server.dispose();
  });

  const append = (sessionId: string, text: string) => appendTexts(service, tenant, sessionId, [text], text);
  const untilAccepted = (sessionId: string, text: string) =>
    expect.poll(async () => (await append(sessionId, text)).status, TIMEOUT).toBe(202);
  /** Kills the bus, and starts it without the writes that it made during the work. */
  async function lose(loss: Loss, work: () => Promise<void>): Promise<void> {
    const restart = async (meanwhile: () => void) => {
      await server.kill();
      await expect.poll(() => store.bus?.isConnected(), TIMEOUT).toBe(false);
      meanwhile();
      await server.start();
      await expect.poll(() => store.bus?.isConnected(), TIMEOUT).toBe(true);
    };
    let putBack: ReturnType<NatsServer['copy']> | undefined;
    await restart(() => {
      putBack = server.copy();
    });
    await work();
    await settled(store.bus);
    await restart(() => putBack?.(loss));
  }

  test.each<Loss>(['messages and positions', 'messages'])(
    'loses no event that is acknowledged later, and numbers none twice, without the %s',
    async (loss) => {
      const sessionId = await openSession(service, tenant.live);
      expect((await append(sessionId, 'one')).status).toBe(202);
      await settled(store.bus);
      await lose(loss, async () => {
        await untilAccepted(sessionId, 'two');
        for (const text of ['three', 'four', 'five']) expect((await append(sessionId, text)).status).toBe(202);
      });
      await untilAccepted(sessionId, 'six');
      expect((await append(sessionId, 'two')).body).toMatchObject({ firstSequence: 2 });
      const later = await openSession(service, tenant.live);
      expect((await append(later, 'another')).status).toBe(202);
      const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
      await expect.poll(() => readTexts(service, tenant, sessionId), TIMEOUT).toEqual(texts);
      await expect.poll(() => readTexts(service, tenant, later), TIMEOUT).toEqual(['another']);
      expect(await store.bus?.backlog()).toEqual({ deadLetters: 0, waiting: 0 });
      expect(said).toEqual([expect.stringMatching(/^the event bus no longer has its last messages/)]);
    },
  );
});
