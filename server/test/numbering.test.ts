import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { killLeftovers } from '../../test/process.ts';
import { startService } from '../../test/service.ts';
import type { Bus } from '../bus/bus.ts';
import { deadLettersOf } from '../bus/streams.ts';
import { COMMANDS } from '../commands.ts';
import { openTestStore, type TestStore } from './engines.ts';
import { createTenant, event, openSession } from './factories.ts';
import { settled, startTestService, testConfig } from './harness.ts';

describe.runIf(inject('natsUrl'))('a PostgreSQL whose events are numbered in one place', () => {
  const busUrl = String(inject('natsUrl'));
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore('bus');
  });
  afterAll(async () => {
    killLeftovers();
    await store.dispose();
  });

  const start = (on: 'bus' | 'store') =>
    startService(store.dataDir, {
      DATABASE_URL: String(store.databaseUrl),
      ...(on === 'bus' ? { BUS_URL: busUrl } : {}),
    });
  const call = async (words: string) => {
    const lines: string[] = [];
    const config = testConfig({ DATABASE_URL: store.databaseUrl, BUS_URL: busUrl, DATA_DIR: store.dataDir });
    await COMMANDS[words]?.(config, (line) => void lines.push(line), []);
    return lines.at(-1);
  };

  test('refuses a process that would number events elsewhere, until a command changes the place', async () => {
    const first = await start('bus');
    await expect(start('store')).rejects.toThrow(/numbered on an event bus.*`leave bus`/);
    const second = await start('bus');
    for (const { end } of [first, second]) expect(await end('SIGTERM')).toBe(0);

    expect(await call('leave bus')).toMatch(/numbered in PostgreSQL from now on/);
    await expect(start('bus')).rejects.toThrow(/numbers its events itself.*`join bus`/);
    await (await start('store')).end('SIGTERM');

    expect(await call('join bus')).toMatch(/numbered on the event bus from now on/);
    await (await start('bus')).end('SIGTERM');
  });

  test('does not leave the bus while a session lacks events between others', async () => {
    const service = await startTestService('bus', {}, store);
    const bus = store.bus as Bus;
    const { live, organizationId, owner } = await createTenant(service);
    const sessionId = await openSession(service, live);
    const entry = { kind: 'append', plane: 'live', firstSequence: 1, lastSequence: 1, key: null, fingerprint: null };
    const written = headers();
    written.set('Capture-Entry', JSON.stringify({ ...entry, appendId: '0'.repeat(32), codec: 2 ** 40, at: 1 }));
    await bus.client.publish(`${bus.name}.log.${organizationId}.${sessionId}`, undefined, { headers: written });
    const body = { events: [event('two')] };
    const reply = await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: live, body });
    expect(reply.body).toMatchObject({ firstSequence: 2 });
    await settled(bus);
    await expect(call('leave bus')).rejects.toThrow(/^1 dead letter is left.*`dead-letter list`/);
    await bus.manager.streams.purge(deadLettersOf(bus.name).stream);
    await expect(call('leave bus')).rejects.toThrow(`the session ${sessionId} lacks events between others`);
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    expect((await service.call('DELETE', url, { as: owner })).status).toBe(200);
    await settled(bus);
    await call('leave bus');
    await call('join bus');
    await service.close();
  });

  test('does not leave the bus while an append is not written', async () => {
    const service = await startTestService('bus', { ROLE: 'api' }, store);
    const tenant = await createTenant(service);
    const sessionId = await openSession(service, tenant.live);
    const body = { events: [event('one')] };
    const reply = await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: tenant.live, body });
    expect(reply.status).toBe(202);
    await expect(call('leave bus')).rejects.toThrow(/not written yet; start a worker/);
    await service.close();
  });
});
