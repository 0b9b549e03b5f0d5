import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createTenant, event, openSession, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

describe.runIf(inject('natsUrl'))('appends over an event bus', () => {
  let service: TestService;
  let tenant: Tenant;
  beforeAll(async () => {
    service = await startTestService('bus');
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  const append = (sessionId: string, texts: readonly string[], key?: string) =>
    service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: tenant.live,
      body: { events: texts.map(event) },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    });
  const read = async (sessionId: string) =>
    (await service.call('GET', `/v1/organizations/me/sessions/${sessionId}/events`, { as: tenant.member })).body.events;

  test('are answered 202 with their numbers, and are read once a worker has written them', async () => {
    const sessionId = await openSession(service, tenant.live);
    const first = await append(sessionId, ['one', 'two']);
    expect(first).toMatchObject({
      status: 202,
      body: { sessionId, accepted: 2, firstSequence: 1, lastSequence: 2, async: true },
    });
    expect((await append(sessionId, ['three'])).body).toMatchObject({ firstSequence: 3, lastSequence: 3 });
    expect(await read(sessionId)).toMatchObject([
      { sequence: 1, payload: { text: 'one' } },
      { sequence: 2, payload: { text: 'two' } },
      { sequence: 3, payload: { text: 'three' } },
    ]);
  });
});
