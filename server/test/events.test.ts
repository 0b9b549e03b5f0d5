import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, event, openSession, type Tenant } from './factories.ts';
import { problem, startTestService, type TestService } from './harness.ts';

describe.each(ENGINES)('events on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  test('an append is numbered and comes back', async () => {
    const sessionId = await openSession(service, tenant.live);
    const reply = await service.call('POST', `/v1/sessions/${sessionId}/events`, {
      as: tenant.live,
      body: { events: [event('one'), event('two')] },
    });
    expect(reply).toMatchObject({
      status: 200,
      body: { sessionId, accepted: 2, firstSequence: 1, lastSequence: 2, async: false },
    });
    const page = await service.call('GET', `/v1/organizations/me/sessions/${sessionId}/events`, { as: tenant.member });
    expect(page.status).toBe(200);
    expect(page.body.events.map((entry: { payload: unknown }) => entry.payload)).toEqual([
      { text: 'one' },
      { text: 'two' },
    ]);
    expect(page.body.nextCursor).toBeNull();
  });

  test('an unknown session is 404', async () => {
    const reply = await service.call('POST', '/v1/sessions/ses_none/events', {
      as: tenant.live,
      body: { events: [event('x')] },
    });
    expect(reply).toMatchObject(problem(404, 'not_found'));
  });
});
