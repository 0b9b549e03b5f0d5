import { createQueryId } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newSecretValue } from '../credentials.ts';
import { createLastUses, type LastUses } from '../http/last-uses.ts';
import { createSecretLookup } from '../http/secret-lookup.ts';
import { createLimits } from '../limits.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Tenant } from './factories.ts';
import { startTestService, type TestService, testConfig } from './harness.ts';

const PEPPER = 'pepper';
const HERE = '2001:db8::1';

describe.each(ENGINES)('looking up secrets on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  beforeAll(async () => {
    service = await startTestService(engine, { SECRET_PEPPER: PEPPER });
    tenant = await createTenant(service);
  });
  afterAll(() => service.close());

  let now: number;
  /** The text of every query. `away` makes every query fail as if the store were unreachable. */
  let queries: string[];
  let away: boolean;
  let onQuery: () => void;
  beforeEach(() => {
    onQuery = () => undefined;
    now = service.clock.now;
    queries = [];
    away = false;
  });
  let lastUses: LastUses;
  const reads = () => queries.filter((text) => text.startsWith('select')).length;

  function createLookup() {
    const db = service.store.db.withPlugin({
      transformQuery({ node }) {
        const compiled = service.store.db.getExecutor().compileQuery(node, createQueryId());
        queries.push(compiled.sql.trim());
        onQuery();
        if (away) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const limits = createLimits(testConfig({ RATE_LIMIT_ADDRESS: 3 }), service.store);
    const onError = (error: unknown) => expect.unreachable(String(error));
    lastUses = createLastUses(db, () => now);
    return createSecretLookup({ db, pepper: PEPPER, limits, lastUses, now: () => now, onError });
  }

  /** When a secret of the tenant was last used, according to the store. */
  const lastUse = async (plane: 'live' | 'test') => {
    const { organizationId } = tenant;
    const secrets = service.store.db.selectFrom('secrets').select('last_used_at').where('plane', '=', plane);
    const row = await secrets.where('organization_id', '=', organizationId).executeTakeFirstOrThrow();
    return Number(row.last_used_at);
  };

  test('a busy secret causes one lookup every 4 seconds, and its use is recorded once a minute', async () => {
    const lookup = createLookup();
    const recorded = new Set<number>();
    for (let second = 0; second < 120; second++) {
      const caller = await lookup.find(tenant.test, HERE);
      expect(caller).toMatchObject({ organizationId: tenant.organizationId, plane: 'test' });
      if (second % 10 === 0) {
        await lastUses.flush();
        recorded.add(await lastUse('test'));
      }
      now += 1_000;
    }
    expect(reads()).toBe(30);
    expect([...recorded]).toEqual([now - 120_000, now - 60_000]);
    expect(queries.filter((text) => text.startsWith('update'))).toHaveLength(2);
  });

  test('an unknown secret causes at most one lookup every 4 seconds', async () => {
    const lookup = createLookup();
    const unknown = newSecretValue('live');
    const ask = () => expect(lookup.find(unknown, '192.0.2.1')).rejects.toMatchObject({ code: 'secret_invalid' });
    for (let i = 0; i < 10; i++) await ask();
    expect(reads()).toBe(1);
    now += 4_000;
    await ask();
    expect(reads()).toBe(2);
  });

  test('a network with too many unknown secrets causes no more lookups, and its known secrets continue', async () => {
    const lookup = createLookup();
    await lookup.find(tenant.live, '2001:db8::7');
    for (const host of [1, 2, 3]) {
      const unknown = lookup.find(newSecretValue('live'), `2001:db8::${host}`);
      await expect(unknown).rejects.toMatchObject({ code: 'secret_invalid' });
    }
    const before = reads();
    const refused = lookup.find(newSecretValue('live'), '2001:db8:0:0:ffff::9');
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited', retryAfter: expect.any(Number) });
    expect(reads()).toBe(before);
    now += 5_000;
    expect(await lookup.find(tenant.live, '2001:db8::7')).toMatchObject({ plane: 'live' });
    const elsewhere = lookup.find(newSecretValue('live'), '2001:db8:0:1::1');
    await expect(elsewhere).rejects.toMatchObject({ code: 'secret_invalid' });
  });

  test('during an outage of the store a known secret is accepted for a day, and no other', async () => {
    const lookup = createLookup();
    await lookup.find(tenant.live, HERE);
    away = true;
    for (const hours of [1, 22]) {
      now += hours * 3_600_000;
      expect(await lookup.find(tenant.live, HERE)).toMatchObject({ plane: 'live' });
    }
    await expect(lookup.find(tenant.test, '192.0.2.2')).rejects.toThrow('ECONNREFUSED');
    now += 3_600_000;
    await expect(lookup.find(tenant.live, HERE)).rejects.toThrow('ECONNREFUSED');
    // Its uses are recorded after the outage.
    await expect(lastUses.flush()).rejects.toThrow('ECONNREFUSED');
    away = false;
    await lastUses.flush();
    expect(await lastUse('live')).toBe(now - 3_600_000);
  });

  test('a secret that is revoked during a lookup is refused, whether the store answers before or not at all', async () => {
    const lookup = createLookup();
    const { secretId } = await lookup.find(tenant.live, HERE);
    now += 5_000;
    away = true;
    onQuery = () => lookup.forget(secretId);
    await expect(lookup.find(tenant.live, HERE)).rejects.toThrow('ECONNREFUSED');
    now += 3_600_000;
    await expect(lookup.find(tenant.live, HERE)).rejects.toThrow('ECONNREFUSED');
    away = false;
    let asked = 0;
    onQuery = () => {
      if (++asked === 1) lookup.forget(secretId);
    };
    await lookup.find(tenant.live, HERE);
    expect(asked).toBe(2);
  });
});
