import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { patience, seeded, times } from '../../contract/test/runs.ts';
import { killLeftovers } from '../../test/process.ts';
import { type Service, startService } from '../../test/service.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';
import { createTenant, openSession, registerMachine, type Tenant } from './factories.ts';
import { startTestService } from './harness.ts';
import { expectNothingLost, type Sent, sendLoad, settle } from './load.ts';
import { createRandom } from './seed.ts';

const ROUNDS = times(4);

describe('the program', () => {
  let store: TestStore;
  let tenant: Tenant;
  let sessionIds: string[];
  beforeAll(async () => {
    store = await openTestStore('sqlite');
    const service = await startTestService('sqlite', {}, store);
    tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    sessionIds = await Promise.all([1, 2, 3].map(() => openSession(service, tenant.live, machine)));
    await service.close();
    await store.close();
  });
  afterAll(async () => {
    killLeftovers();
    await store.dispose();
  });

  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Checks the events that the ended program left. */
  async function check(sent: readonly Sent[]) {
    store = await attach(store.dataDir, undefined);
    const service = await startTestService('sqlite', {}, store);
    await expectNothingLost(service, tenant.member, sent);
    await service.close();
    await store.close();
  }

  test('asked to end under load, it ends soon and loses nothing that it acknowledged', async () => {
    const sent: Sent[] = [];
    const running = await startService(store.dataDir);
    const load = sendLoad(running, tenant.live, sessionIds, sent, () => false);
    await pause(400);
    const asked = Date.now();
    expect(await running.end('SIGTERM')).toBe(0);
    expect(Date.now() - asked).toBeLessThan(5_000);
    await load;
    expect(sent.filter(({ answer }) => answer).length).toBeGreaterThan(0);
    await check(sent);
    expect(running.output()).not.toContain(tenant.live);
  });

  test('asked to end during a request, it answers the request, and ends although the connection stays open', async () => {
    const running = await startService(store.dataDir);
    const body = JSON.stringify({ events: [{ eventType: 'notice', payload: { text: 'half way' } }] });
    const agent = new Agent({ keepAlive: true });
    const asked = request(`${running.url}/v1/sessions/${sessionIds[0]}/events`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${tenant.live}`, 'content-length': body.length },
    });
    asked.write(body.slice(0, 10));
    await pause(200);
    const ended = running.end('SIGTERM');
    await pause(200);
    asked.end(body.slice(10));
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    expect(reply.statusCode).toBe(200);
    reply.resume();
    expect(await Promise.race([ended, pause(5_000)])).toBe(0);
    agent.destroy();
  });

  const SPARE = [
    ['nothing', ''],
    ['half a request line', 'GET /hea'],
    ['half of a request’s headers', 'GET /health HTTP/1.1\r\nhost: x\r\n'],
  ] as const;
  test.each(SPARE)('asked to end, it does not wait for a connection that has sent %s', async (_, sent) => {
    const running = await startService(store.dataDir);
    const { port, hostname } = new URL(running.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(sent);
    await pause(100);
    const asked = Date.now();
    expect(await running.end('SIGTERM')).toBe(0);
    expect(Date.now() - asked).toBeLessThan(5_000);
    socket.destroy();
  });

  test('it serves and ends even if the reader of its log is gone', async () => {
    const running = await startService(store.dataDir, { LOG_LEVEL: 'info' });
    running.leave();
    expect((await fetch(`${running.url}/health`)).status).toBe(200);
    expect(await Promise.race([running.end('SIGTERM'), pause(5_000)])).toBe(0);
  });

  test('asked to end a second time, it ends at once', async () => {
    const running = await startService(store.dataDir, { DRAIN_SECONDS: '30' });
    running.signal('SIGINT');
    // npm repeats a signal that the terminal has sent already, and the repetition is no second request.
    running.signal('SIGINT');
    expect(await Promise.race([running.ended, pause(700)])).toBeUndefined();
    const asked = Date.now();
    running.signal('SIGINT');
    expect(await running.ended).toBe(130);
    expect(Date.now() - asked).toBeLessThan(5_000);
  });

  test(
    `killed repeatedly under load, it loses nothing that it acknowledged ${seeded}`,
    async () => {
      const sent: Sent[] = [];
      const random = createRandom();
      // The three sessions hold events of the test before, so this test uses new ones.
      const fresh = await prepare();
      for (let round = 0; round < ROUNDS; round++) {
        const running: Service = await startService(store.dataDir);
        await settle(running, tenant.live, sent);
        const load = sendLoad(running, tenant.live, fresh, sent, () => false);
        await pause(20 + random() * 200);
        expect(await running.end('SIGKILL')).toBe('SIGKILL');
        await load;
        if (round % 3 === 2) await check(sent);
      }
      await check(sent);
      expect(sent.filter(({ answer }) => answer).length).toBeGreaterThan(ROUNDS);
    },
    patience(120_000),
  );

  async function prepare(): Promise<string[]> {
    store = await attach(store.dataDir, undefined);
    const service = await startTestService('sqlite', {}, store);
    const machine = await registerMachine(service, tenant.live);
    const ids = await Promise.all([1, 2].map(() => openSession(service, tenant.live, machine)));
    await service.close();
    await store.close();
    return ids;
  }

  test('a second process on the same folder is refused with a message, and the first continues', async () => {
    const first = await startService(store.dataDir);
    const second = startService(store.dataDir);
    await expect(second).rejects.toThrow(
      /ended with 1 .*[\s\S]*could not start: another process already uses the data folder/,
    );
    expect((await fetch(`${first.url}/health`)).status).toBe(200);
    expect(await first.end('SIGTERM')).toBe(0);
  });

  test('a port in use is reported with the remedy', async () => {
    const first = await startService(store.dataDir);
    const { port } = new URL(first.url);
    const second = startService(join(store.dataDir, 'second'), { PORT: port });
    await expect(second).rejects.toThrow(`could not start: port ${port} is in use by another program.`);
    expect(await first.end('SIGTERM')).toBe(0);
  });

  test('an invalid configuration reports every error and starts nothing', async () => {
    const started = startService(store.dataDir, { PORT: 'x', LOG_LEVEL: 'loud' });
    await expect(started).rejects.toThrow(/ended with 1 [\s\S]*2 problem\(s\)[\s\S]*PORT must[\s\S]*LOG_LEVEL must/);
  });

  test('a file instead of a folder is reported with the remedy', async () => {
    await expect(startService(store.dataDir, { DATA_DIR: '/etc/passwd' })).rejects.toThrow(
      'The folder /etc/passwd cannot be used: it is a file.',
    );
  });

  test('a missing database is reported with the remedy', async () => {
    const missing = Object.assign(new URL(inject('postgresUrl')), { pathname: '/missing' });
    await expect(startService(store.dataDir, { DATABASE_URL: missing.href })).rejects.toThrow(
      '/missing: it has no database of this name: create it, or correct DATABASE_URL',
    );
  });
});
