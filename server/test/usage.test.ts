import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findTopSessions } from '../store/usage.ts';
import { wholeOrganization } from '../store/viewer.ts';
import { ENGINES } from './engines.ts';
import { createTenant, openSession, registerMachine, type Tenant, whenDerived } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';

const at = (day: string, hour = '12') => ({ occurredAt: `${day}T${hour}:00:00.000Z` });

/** Events of a session in a repository, with a prompt, a failure and the tokens of a model, on one day. */
const eventsOf = (repository: string, model: string, day: string, inputTokens: number) => [
  { eventType: 'session.meta', payload: { repository: `git@git.test:${repository}.git`, cwd: '/home/ada/x', model } },
  { eventType: 'user.message', payload: { text: 'Please', ...at(day, '09') } },
  { eventType: 'tool.call', payload: { callId: 'c', name: 'shell', input: { command: 'ls' }, ...at(day) } },
  { eventType: 'tool.result', payload: { callId: 'c', isError: true, ...at(day) } },
  { eventType: 'usage', payload: { responseId: 'r', model, inputTokens, outputTokens: 0, ...at(day) } },
  { eventType: 'turn.finished', payload: { reason: 'interrupted', ...at(day) } },
];

describe.each(ENGINES)('usage on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  let ids: string[];
  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    const sessions = [
      eventsOf('o/shop', 'claude-opus-4-5', '2026-11-19', 1_000_000),
      eventsOf('o/shop', 'claude-haiku-4-5', '2026-11-20', 2_000_000),
      eventsOf('o/blog', 'nobody-knows', '2026-11-20', 500),
      ...Array.from({ length: 21 }, (_, n) => eventsOf(`o/r${n}`, 'claude-haiku-4-5', '2026-11-18', 1_000)),
    ];
    ids = [];
    for (const events of sessions) {
      const id = await openSession(service, tenant.live, machine);
      await service.call('POST', `/v1/sessions/${id}/events`, { as: tenant.live, body: { events } });
      ids.push(id);
    }
    await settle();
  });
  afterAll(() => service.close());

  /** Waits until all sessions are derived; a request for facts waits for them. */
  const settle = () =>
    vi.waitFor(async () => {
      for (const id of ids) {
        const { body } = await get(`/v1/organizations/me/sessions/${id}/facts`);
        if (body.summary.summarizedThrough < 6) throw new Error('not derived yet');
      }
    }, 60_000);
  const get = (url: string, as = tenant.member) => service.call('GET', url, { as });
  /** The figures once everything is counted, on however busy a machine. */
  const usage = async (query = 'from=2026-11-01&to=2026-11-30') => {
    for (;;) {
      const { body } = await get(`/v1/organizations/me/usage?${query}`);
      if (!body.catchingUp) return body;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  test('sums all sessions by day, model and repository, with their cost', async () => {
    const { total, days, groups, unpricedTokens } = await usage();
    expect(total).toMatchObject({ sessions: 24, prompts: 24, toolCalls: 24, failures: 24, inputTokens: 3_021_500 });
    expect(total.cost).toBeCloseTo(5 + 2 + 0.021);
    expect(unpricedTokens).toBe(500);
    expect(days.map(({ day, sessions }: { day: string; sessions: number }) => [day, sessions])).toEqual([
      ['2026-11-18', 21],
      ['2026-11-19', 1],
      ['2026-11-20', 2],
    ]);
    const of = (dimension: string, value: string) =>
      groups.find(
        (group: { dimension: string; value: string }) => group.dimension === dimension && group.value === value,
      );
    expect(of('repository', 'git.test/o/shop')).toMatchObject({ sessions: 2, inputTokens: 3_000_000, cost: 7 });
    expect(of('model', 'claude-opus-4-5')).toMatchObject({ sessions: 1, cost: 5 });
    expect(of('model', 'nobody-knows')).not.toHaveProperty('cost');
    // Twenty of the 23 repositories have their own row: among equal numbers of sessions, those with the most tokens.
    expect(of('repository', '')).toMatchObject({ sessions: 3, inputTokens: 2_500 });
    expect(of('repository', '').cost).toBeCloseTo(0.002);
  });

  test('groups by week over more than 120 days, with the same sums', async () => {
    const [month, year] = [await usage(), await usage('from=2025-12-01&to=2026-11-30')];
    expect(year.total).toEqual(month.total);
    expect(year.days).toEqual(month.days);
    const withoutDays = ({ groups }: typeof month) => groups.map(({ days: _, ...group }: { days: unknown }) => group);
    expect(withoutDays(year)).toEqual(withoutDays(month));
    const ofAgent = year.groups.find(({ dimension }: { dimension: string }) => dimension === 'agent');
    expect(ofAgent.days).toMatchObject([{ day: '2026-11-18', sessions: 24, inputTokens: 3_021_500 }]);
    const others = year.groups.find((group: { dimension: string; value: string }) => {
      return group.dimension === 'repository' && group.value === '';
    });
    expect(others.days).toMatchObject([{ day: '2026-11-18', sessions: 3, inputTokens: 2_500 }]);
  });

  test('has tools, hours of the week, and sessions that need attention', async () => {
    const { tools, hours, attention, running, machines } = await usage();
    expect(tools).toEqual([{ name: 'shell', calls: 24, failed: 24 }]);
    // 2026-11-18 is a Wednesday.
    expect([hours[2 * 24 + 9], hours[2 * 24 + 12]]).toEqual([21, 21]);
    const first = (wanted: string) => attention.find(({ reason }: { reason: string }) => reason === wanted);
    expect(first('expensive')).toMatchObject({ session: { sessionId: ids[0] }, figure: 5 });
    expect(first('interrupted')).toBeDefined();
    expect(first('longest')).toMatchObject({ figure: 3 * 3_600_000 });
    expect(running).toEqual([]);
    expect(machines).toMatchObject([{ lagMs: expect.any(Number) }]);
  });

  test('finds sessions by the hour of the week in which they were active', async () => {
    const found = async (q: string) => (await get(`/v1/organizations/me/search?q=${q}`)).body.sessions.length;
    expect([await found('hour:WED-09'), await found('hour:thu-12'), await found('hour:fri-13')]).toEqual([21, 1, 0]);
  });

  test('covers only the requested days and plane, and one organization', async () => {
    expect((await usage('from=2026-11-19&to=2026-11-19')).total).toMatchObject({ sessions: 1 });
    expect((await usage('secretEnvironment=test&to=2026-11-30')).total).toMatchObject({ sessions: 0 });
    const other = await createTenant(service);
    const { body } = await get('/v1/organizations/me/usage?from=2026-11-01&to=2026-11-30', other.member);
    expect(body).toMatchObject({ total: { sessions: 0 }, groups: [], attention: [], machines: [] });
  });

  test('finds a session that needs attention even if all earlier sessions need it more', async () => {
    const [earlier, wanted] = ids;
    const start = await service.store.db.selectFrom('session_facts').select(['session_id', 'started_at']).execute();
    const move = (id: string | undefined, to: number) =>
      service.store.db
        .updateTable('session_facts')
        .set({ started_at: to })
        .where('session_id', '=', String(id))
        .execute();
    await move(earlier, Date.parse('2026-10-01T12:00:00Z'));
    await move(wanted, Date.parse('2026-10-20T12:00:00Z'));
    const filter = {
      organizationId: tenant.organizationId,
      planes: ['live'],
      from: '2026-10-19',
      to: '2026-10-21',
    } as const;
    const viewer = wholeOrganization(tenant.organizationId);
    const [few, many] = await Promise.all(
      [true, false].map((isFew) => findTopSessions(service.store.db, viewer, filter, 'cost', isFew, 5, 1)),
    );
    expect(many).toEqual([{ session_id: wanted, figure: 2_000_000_000 }]);
    expect(few).toEqual(many);
    for (const { session_id, started_at } of start) await move(session_id, started_at);
  });

  test('loses deleted sessions', async () => {
    const [gone] = ids as [string];
    await service.call('DELETE', `/v1/organizations/me/sessions/${gone}`, { as: tenant.admin });
    await expect.poll(async () => (await usage()).total.sessions).toBe(23);
    expect((await usage()).total.cost).toBeCloseTo(2.021);
  });

  test('has no cost for a model without a price, beside a model with one', async () => {
    const other = await createTenant(service);
    const machine = await registerMachine(service, other.live);
    for (const model of ['claude-haiku-4-5', undefined]) {
      const id = await openSession(service, other.live, machine);
      const events = [
        { eventType: 'usage', payload: { model, inputTokens: 500, outputTokens: 1, ...at('2026-11-19') } },
      ];
      await service.call('POST', `/v1/sessions/${id}/events`, { as: other.live, body: { events } });
      await vi.waitFor(async () => {
        const { body } = await get(`/v1/organizations/me/sessions/${id}/facts`, other.member);
        if (body.summary.summarizedThrough < 1) throw new Error('not derived yet');
      }, 60_000);
    }
    const { groups } = (await get('/v1/organizations/me/usage?from=2026-11-01&to=2026-11-30', other.member)).body;
    const ofModels = groups.filter(({ dimension }: { dimension: string }) => dimension === 'model');
    expect(ofModels.map(({ value, cost }: { value: string; cost?: number }) => [value, cost !== undefined])).toEqual([
      ['claude-haiku-4-5', true],
      ['', false],
    ]);
  });

  test('does not report a machine as behind for sending a session that ended long before', async () => {
    const { environmentId, installationId: agentInstallationId } = await registerMachine(service, tenant.live);
    const place = { environmentId, agentInstallationId };
    const body = { sessions: [{ ...place, clientKey: 'claude-code_of-last-year' }] };
    const { results } = (await service.call('POST', '/v1/captured-sessions', { as: tenant.live, body })).body;
    const { sessionId } = results[0].session;
    const events = eventsOf('o/old', 'nobody-knows', '2026-11-17', 1);
    await service.call('POST', `/v1/sessions/${sessionId}/events`, { as: tenant.live, body: { events } });
    await whenDerived(service, tenant.member, sessionId, events.length);
    const lagOf = async () =>
      (await usage()).machines.find((one: { environmentId: string }) => one.environmentId === environmentId)?.lagMs;
    expect(await lagOf()).toBeGreaterThan(0);
    const ended = { as: tenant.live, body: { endedAt: '2026-11-17T18:00:00Z' } };
    await service.call('POST', `/v1/sessions/${sessionId}/complete`, ended);
    expect(await lagOf()).toBeUndefined();
  });
});

describe.each(ENGINES)('the index of a session on %s', (engine) => {
  test('is sent compressed', async () => {
    const service = await startTestService(engine);
    const tenant = await createTenant(service);
    const id = await openSession(service, tenant.live);
    const events = Array.from({ length: 50 }, (_, n) => ({
      eventType: 'user.message',
      payload: { text: `Please ${n}` },
    }));
    await service.call('POST', `/v1/sessions/${id}/events`, { as: tenant.live, body: { events } });
    const reply = await service.app.inject({
      url: `/v1/organizations/me/sessions/${id}/index`,
      headers: { authorization: `Bearer ${tenant.member}`, 'accept-encoding': 'gzip' },
    });
    expect(reply.headers['content-encoding']).toBe('gzip');
    expect(reply.rawPayload.byteLength).toBeLessThan(2_000);
    await service.close();
  });
});
