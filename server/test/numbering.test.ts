import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { COMMANDS } from '../commands.ts';
import { openTestStore, type TestStore } from './engines.ts';
import { createTenant, event, openSession } from './factories.ts';
import { startTestService, testConfig } from './harness.ts';
import { killLeftovers, startProcess } from './process.ts';

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
    startProcess(store.dataDir, {
      DATABASE_URL: String(store.databaseUrl),
      ...(on === 'bus' ? { BUS_URL: busUrl } : {}),
    });
  const call = async (words: string) => {
    const lines: string[] = [];
    const config = testConfig({ DATABASE_URL: store.databaseUrl, BUS_URL: busUrl, DATA_DIR: store.dataDir });
    await COMMANDS[words]?.(config, (line) => void lines.push(line));
    return lines.at(-1);
  };

  test('refuses a process that would number in another, until it is told to go over', async () => {
    const first = await start('bus');
    await expect(start('store')).rejects.toThrow(/numbered on an event bus.*`leave bus`/);
    const second = await start('bus');
    for (const { end } of [first, second]) expect(await end('SIGTERM')).toBe(0);

    expect(await call('leave bus')).toMatch(/numbered in PostgreSQL from now on/);
    await expect(start('bus')).rejects.toThrow(/numbered in it.*`join bus`/);
    await (await start('store')).end('SIGTERM');

    expect(await call('join bus')).toMatch(/numbered on the event bus from now on/);
    await (await start('bus')).end('SIGTERM');
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
