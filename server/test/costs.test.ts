import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { sessionWith } from './searched.ts';

interface Row {
  cost?: number;
  model: string;
  day: string;
  price?: object;
}

const count = fc.integer({ min: 0, max: 400_000 });
const response = fc.record({
  responseId: fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5', undefined),
  model: fc.constantFrom('claude-opus-4-6', 'claude-haiku-5-5', 'gpt-5.4', 'gpt-5.6-terra', 'nobody-knows'),
  day: fc.constantFrom('2026-11-18', '2026-11-19'),
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  cacheWrite1hTokens: count,
  webSearches: fc.integer({ min: 0, max: 3 }),
  cached: fc.constantFrom('excluded', 'included'),
  speed: fc.constantFrom('fast', undefined),
  tier: fc.constantFrom('priority', 'flex', undefined),
  region: fc.constantFrom('us', undefined),
});

/** Whole millionths of a dollar. A sum of dollars has a rounding error far below that. */
const micro = (rows: readonly { cost?: number }[]) =>
  Math.round(rows.reduce((sum, { cost = 0 }) => sum + cost, 0) * 1e6 * 1e3) / 1e3;

describe.each(ENGINES)('costs on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  let machine: Machine;
  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    machine = await registerMachine(service, tenant.live);
  });
  afterAll(() => service.close());

  const get = async (path: string) => {
    const reply = await service.call('GET', `/v1/organizations/me/${path}`, { as: tenant.member });
    expect(reply.status, reply.text).toBe(200);
    return reply.body;
  };
  const usage = async () => {
    for (;;) {
      const body = await get('usage?from=2026-11-01&to=2026-11-30');
      if (!body.catchingUp) return body;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  test('of sessions, days, models and the overview add up exactly, whatever the responses', async () => {
    const sessions: string[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(response, { minLength: 1, maxLength: 12 }), async (responses) => {
        const events = responses.map(({ day, ...payload }) => ({
          eventType: 'usage',
          payload: { ...payload, occurredAt: `${day}T12:00:00.000Z` },
        }));
        sessions.push(await sessionWith(service, tenant, machine, events));
        const facts = await Promise.all(sessions.map((id) => get(`sessions/${id}/facts`)));
        const rows: Row[] = facts.flatMap((one) => one.usage);
        const summaries = facts.map(({ summary }) => summary);
        for (const { summary, usage: own } of facts) expect(micro(own)).toBe(micro([summary]));
        const { total, days, groups } = await usage();
        expect(micro([total])).toBe(micro(summaries));
        expect(micro([total])).toBe(micro(rows));
        expect(micro(days)).toBe(micro([total]));
        for (const dimension of ['model', 'agent', 'environment']) {
          const of = groups.filter((group: { dimension: string }) => group.dimension === dimension);
          expect(micro(of), dimension).toBe(micro([total]));
          expect(micro(of.flatMap((group: { days: Row[] }) => group.days)), dimension).toBe(micro([total]));
        }
        for (const day of days) expect(micro([day])).toBe(micro(rows.filter((row) => row.day === day.day)));
      }),
      runs(5),
    );
  }, 120_000);

  test('are in the answer with the counts and the price of each kind, and without a price the tokens are counted', async () => {
    const at = { occurredAt: '2026-11-20T12:00:00.000Z' };
    const spent = (payload: object) => ({ eventType: 'usage', payload: { ...at, ...payload } });
    const id = await sessionWith(service, tenant, machine, [
      spent({
        responseId: 'a',
        model: 'claude-opus-4-6',
        inputTokens: 1_000_000,
        outputTokens: 1_000_000,
        speed: 'fast',
      }),
      spent({
        ...{ responseId: 'b', model: 'claude-opus-4-6', inputTokens: 1_000_000, webSearches: 100 },
        ...{ cacheWriteTokens: 1_000_000, cacheWrite1hTokens: 1_000_000, cached: 'included' },
      }),
      spent({ responseId: 'c', model: 'nobody-knows', inputTokens: 70, outputTokens: 7 }),
      spent({ responseId: 'd', model: 'gpt-5.4', inputTokens: 300_000, outputTokens: 0, tier: 'priority' }),
    ]);
    const { usage: rows, summary, pricesOf } = await get(`sessions/${id}/facts`);
    expect(rows).toMatchObject([
      { terms: 'fast', cost: 180, price: { input: 30, output: 150 } },
      {
        terms: '',
        cost: 11,
        cacheWrite1hTokens: 1_000_000,
        webSearches: 100,
        price: { cacheWrite1h: 10, webSearch: 10 },
      },
      { model: 'nobody-knows', inputTokens: 70, outputTokens: 7 },
      { terms: 'priority', above: 271_999, unknownTerms: 'priority', cost: 1.5, price: { input: 5 } },
    ]);
    expect(rows[2]).not.toHaveProperty('cost');
    expect(summary.cost).toBe(192.5);
    expect(pricesOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });
});
