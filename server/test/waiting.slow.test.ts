import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { patience } from '../../contract/test/runs.ts';
import { killLeftovers } from '../../test/process.ts';
import { launchService } from '../../test/service.ts';
import { startWire, type Wire } from '../../test/wire.ts';
import { freePort } from '../public-url.ts';
import { LOGS, openTestStore, type TestStore } from './engines.ts';
import { event, openSession } from './factories.ts';
import { startTestService } from './harness.ts';
import { createWorld, type World } from './world.ts';

describe.each(LOGS.filter((log) => log !== 'sqlite'))('a process on %s that starts while PostgreSQL is away', (log) => {
  let own: TestStore;
  let wire: Wire;
  let far: string;
  let world: World;
  let sessionId: string;
  beforeAll(async () => {
    own = await openTestStore(log);
    const service = await startTestService(log, {}, own);
    world = await createWorld(service);
    sessionId = await openSession(service, world.ours.live, world.ours);
    const url = new URL(own.databaseUrl as string);
    wire = await startWire(Number(url.port));
    url.port = String(wire.port);
    far = url.href;
  });
  afterEach(killLeftovers);
  afterAll(async () => {
    await wire.cut().catch(() => undefined);
    await world.service.close();
    await own.dispose();
  });

  async function launch(more: Record<string, string> = {}) {
    const operationsPort = await freePort('127.0.0.1');
    const bus = own.busUrl === undefined ? {} : { BUS_URL: own.busUrl };
    const launched = await launchService(own.dataDir, {
      ...{ DATABASE_URL: far, OPERATIONS_PORT: String(operationsPort), ...bus, ...more },
      RATE_LIMIT_ADDRESS: '0',
    });
    const probe = async (path: string) => {
      const reply = await fetch(`http://127.0.0.1:${operationsPort}${path}`).catch(() => undefined);
      return reply?.status;
    };
    return { ...launched, probe };
  }

  test(
    'answers 503 while it waits, and accepts appends once PostgreSQL is there',
    async () => {
      await wire.cut();
      const replica = await launch(log === 'bus' ? { ROLE: 'api' } : {});
      const append = () =>
        fetch(`${replica.url}/v1/sessions/${sessionId}/events`, {
          method: 'POST',
          headers: { authorization: `Bearer ${world.ours.live}`, 'content-type': 'application/json' },
          body: JSON.stringify({ events: [event('after the outage')] }),
        });
      const statusOf = () =>
        append().then(
          ({ status }) => status,
          () => undefined,
        );
      await expect.poll(statusOf, { timeout: patience(30_000) }).toBe(503);
      const refused = await append();
      expect(await refused.json()).toMatchObject({ code: 'service_unavailable' });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect((await fetch(`${replica.url}/health`)).status).toBe(503);
      expect(await replica.probe('/livez')).toBe(200);
      expect(await replica.probe('/readyz')).toBe(503);
      const said = 'nothing listens there: start PostgreSQL, or correct DATABASE_URL';
      // The message is logged once, however often the process retries.
      expect(replica.output().split(said)).toHaveLength(2);

      await wire.mend();
      await replica.ready;
      expect((await fetch(`${replica.url}/health`)).status).toBe(200);
      expect(await replica.probe('/readyz')).toBe(200);
      expect((await append()).status).toBe(log === 'bus' ? 202 : 200);
      expect(await replica.end('SIGTERM')).toBe(0);
    },
    patience(90_000),
  );

  test(
    'ends on request even though it has not started serving',
    async () => {
      await wire.cut();
      try {
        const replica = await launch();
        await expect.poll(() => replica.output(), { timeout: patience(30_000) }).toContain('waits for its store');
        await expect.poll(() => replica.probe('/livez')).toBe(200);
        expect(await replica.end('SIGTERM')).toBe(0);
      } finally {
        await wire.mend();
      }
    },
    patience(60_000),
  );

  test('ends with a message if waiting cannot help', async () => {
    const missing = Object.assign(new URL(inject('postgresUrl')), { pathname: '/missing' });
    const { ready } = await launch({ DATABASE_URL: missing.href });
    await expect(ready).rejects.toThrow('it has no database of this name: create it, or correct DATABASE_URL');
  });
});
