import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { killLeftovers } from '../../test/process.ts';
import { startService } from '../../test/service.ts';
import { createMetrics } from '../operations/metrics.ts';
import { createOperations } from '../operations/operations.ts';
import { freePort } from '../public-url.ts';
import { LOGS, openTestStore } from './engines.ts';
import { openSession } from './factories.ts';
import { settled, startTestService } from './harness.ts';
import { createWorld } from './world.ts';

describe.each(LOGS)('metrics on %s', (engine) => {
  test('count answers by route and appends by outcome, without any word from a caller', async () => {
    const metrics = createMetrics();
    const store = await openTestStore(engine);
    metrics.watchStore(store);
    if (store.bus) metrics.watchBus(store.bus);
    const service = await startTestService(engine, {}, store, metrics);
    const { ours } = await createWorld(service);
    const sessionId = await openSession(service, ours.live, ours);
    const append = (key: string, path = sessionId) =>
      service.call('POST', `/v1/sessions/${path}/events`, {
        as: ours.live,
        headers: { 'idempotency-key': key },
        body: { events: [{ eventType: 'notice' }, { eventType: 'notice' }] },
      });
    const figures = async () =>
      new Map(
        [...(await metrics.read()).text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)].map(([, name, value]) => [
          String(name),
          Number(value),
        ]),
      );
    await settled(store.bus);
    const before = await figures();
    for (const [key, path] of [['a'], ['a'], ['b'], ['c', 'ses_nowhere']] as const) await append(key, path);
    await service.call('GET', '/v1/chosen/by-a-caller');
    await service.call('PURGE', '/health');

    const after = await figures();
    const route = 'method="POST",route="/v1/sessions/:sessionId/events"';
    const added = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    const isBus = engine === 'bus';
    expect(added(`capture_http_request_seconds_count{${route},status="${isBus ? 202 : 200}"}`)).toBe(3);
    expect(added(`capture_http_request_seconds_count{${route},status="404"}`)).toBe(1);
    expect(added('capture_append_commit_seconds_count{outcome="stored"}')).toBe(3);
    expect(added('capture_append_commit_seconds_count{outcome="refused"}')).toBe(1);
    expect(added('capture_append_replays_total')).toBe(1);
    expect(added('capture_append_events_sum')).toBe(8);
    expect(after.get('capture_appends_waiting')).toBe(0);
    expect(after.has('capture_store_connections{state="idle"}')).toBe(engine !== 'sqlite');
    await expect.poll(async () => (await figures()).get('capture_derive_lag_seconds_count')).toBeGreaterThan(0);
    await expect.poll(async () => (await figures()).get('capture_derive_waiting')).toBe(0);
    await settled(store.bus);
    const written = 'capture_worker_batch_events_sum';
    const inFront = before.get(written) ?? 0;
    await expect.poll(async () => ((await figures()).get(written) ?? 0) - inFront).toBe(isBus ? 4 : 0);
    const names = [...after.keys()].join('\n');
    for (const chosen of [sessionId, 'ses_nowhere', 'by-a-caller', 'PURGE', ours.organizationId]) {
      expect(names).not.toContain(chosen);
    }
    await service.close();
    await store.dispose();
  });
});

describe('the operations port', () => {
  const folder = mkdtempSync(join(tmpdir(), 'capture-operations-'));
  afterAll(() => {
    killLeftovers();
    rmSync(folder, { recursive: true, force: true });
  });

  test('has the metrics, and reports not ready while the last requests are answered', async () => {
    const port = await freePort('127.0.0.1');
    const ask = async (path: string) => {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: reply.status, text: await reply.text() };
    };
    const service = await startService(folder, { OPERATIONS_PORT: String(port), DRAIN_SECONDS: '2' });
    expect(await ask('/livez')).toMatchObject({ status: 200 });
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
    await fetch(`${service.url}/health`);
    const { text } = await ask('/metrics');
    expect(text).toContain('capture_http_request_seconds_count{method="GET",route="/health",status="200"} 1');
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(await ask('/')).toMatchObject({ status: 404 });
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);

    const ended = service.end('SIGTERM');
    await expect.poll(async () => (await ask('/readyz')).status).toBe(503);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    expect(await ask('/livez')).toMatchObject({ status: 200 });
    expect(await ended).toBe(0);
  });

  test('reports not ready while the store does not answer', async () => {
    const ping = () => Promise.reject(new Error('away'));
    const server = createOperations({ metrics: createMetrics(), ping, whyNotReady: () => undefined });
    const port = await freePort('127.0.0.1');
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    server.close();
  });

  test('reports the reason of a process that is not ready, such as a stopped worker', async () => {
    const whyNotReady = () => 'the worker has stopped';
    const server = createOperations({ metrics: createMetrics(), ping: async () => undefined, whyNotReady });
    const port = await freePort('127.0.0.1');
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const reply = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([reply.status, await reply.text()]).toEqual([503, 'the worker has stopped\n']);
    server.close();
  });
});
