import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Prices, readPrices } from '../derive/prices.ts';
import { reprice } from '../derive/reprice.ts';
import { runAll } from '../store/rows.ts';
import { replaceSessionDays } from '../store/session-rows.ts';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { sessionWith } from './searched.ts';

const DAY = '2026-11-20';
const OPUS = 'claude-opus-4-5';
const HAIKU = 'claude-haiku-4-5';

const spent = (model: string) => ({
  eventType: 'usage',
  payload: { responseId: 'r', model, inputTokens: 1_000_000, outputTokens: 0, occurredAt: `${DAY}T12:00:00.000Z` },
});

const prices = readPrices();
const { signal } = new AbortController();

/** The prices multiplied by a factor. */
const timesPrices = (factor: number): Prices => ({
  ...prices,
  fingerprint: `times ${factor}`,
  costOf(...given) {
    const cost = prices.costOf(...given);
    return cost && cost * factor;
  },
});

/** The same prices, but failing for one model until `failed.isOver` returns true. */
function failingPrices(factor: number, failing: string) {
  const known = timesPrices(factor);
  const failed = { times: 0, isOver: (_: number) => false };
  const table: Prices = {
    ...known,
    costOf(model, ...rest) {
      if (model === failing && !failed.isOver(failed.times++)) throw new Error('nobody knows the price');
      return known.costOf(model, ...rest);
    },
  };
  return { table, failed };
}

describe.each(ENGINES)('new prices on %s', (engine) => {
  let service: TestService;
  let tenant: Tenant;
  let machine: Machine;
  /** The two sessions, in the order in which they are priced. */
  let opus: string;
  let haiku: string;

  beforeAll(async () => {
    service = await startTestService(engine);
    tenant = await createTenant(service);
    machine = await registerMachine(service, tenant.live);
    opus = await sessionWith(service, tenant, machine, [spent(OPUS)]);
    haiku = await sessionWith(service, tenant, machine, [spent(HAIKU)]);
  });
  beforeEach(() => reprice(service.store.db, prices, signal));
  afterAll(() => service.close());

  const readDays = (id: string) =>
    service.store.db.selectFrom('session_days').selectAll().where('session_id', '=', id).orderBy('kind').execute();
  /** The costs of the session, of its day and of its model. */
  const costsOf = async (id: string) => {
    const { db } = service.store;
    const facts = db.selectFrom('session_facts').select('cost').where('session_id', '=', id);
    const { cost } = await facts.executeTakeFirstOrThrow();
    const days = await readDays(id);
    return [cost, ...days.filter(({ kind }) => kind !== 'hour').map((day) => day.cost)];
  };

  test('apply to the tokens of a session that is being derived, without a deadlock', async () => {
    const { db } = service.store;
    const id = await sessionWith(service, tenant, machine, [spent(HAIKU)]);
    const session = { session_id: id, organization_id: tenant.organizationId, plane: 'live' } as const;
    const before = await readDays(id);
    // The indexer keeps its claim on the session for a moment after deriving it.
    const claim = db.selectFrom('session_facts').select('claimed_until').where('session_id', '=', id);
    await expect.poll(() => claim.executeTakeFirst(), { timeout: 60_000 }).toEqual({ claimed_until: 0 });
    let repriced: Promise<unknown> = Promise.resolve();
    // Writes in the order in which a derived slice is written.
    await db.transaction().execute(async (transaction) => {
      const facts = transaction.updateTable('session_facts').where('session_id', '=', id);
      await facts.set({ input_tokens: 3_000_000 }).execute();
      repriced = reprice(db, timesPrices(2), signal, []).catch((error) => error);
      if (engine === 'postgres') await whenWaiting();
      const more = before.map((day) => ({ ...day, input_tokens: day.input_tokens * 3 }));
      await runAll(transaction, replaceSessionDays(db, session, more));
    });
    expect(await repriced).toBeUndefined();
    expect(await costsOf(id)).toEqual([6, 6, 6]);
  });

  test('apply to the sessions after a failed one, and the next start retries that one', async () => {
    const { db } = service.store;
    const { table, failed } = failingPrices(4, OPUS);
    await expect(reprice(db, table, signal, [])).rejects.toThrow('sessions that could not be priced again: 1');
    expect([await costsOf(opus), await costsOf(haiku)]).toEqual([
      [5, 5, 5],
      [4, 4, 4],
    ]);
    failed.isOver = () => true;
    await reprice(db, table, signal, []);
    expect(await costsOf(opus)).toEqual([20, 20, 20]);
  });

  test('that reached only some sessions are reverted by a start with the earlier prices', async () => {
    const { db } = service.store;
    await expect(reprice(db, failingPrices(16, OPUS).table, signal, [])).rejects.toThrow();
    expect(await costsOf(haiku)).toEqual([16, 16, 16]);
    await reprice(db, prices, signal);
    expect(await costsOf(haiku)).toEqual([1, 1, 1]);
  });

  test('are retried in the same process a while after a session failed', async () => {
    const { table, failed } = failingPrices(8, OPUS);
    failed.isOver = (times) => times > 1;
    await reprice(service.store.db, table, signal, [1, 1]);
    expect([await costsOf(opus), await costsOf(haiku)]).toEqual([
      [40, 40, 40],
      [8, 8, 8],
    ]);
  });

  /** Settles once a query waits for a lock. Ignores the indexer, which may claim the session again. */
  const whenWaiting = () =>
    expect
      .poll(
        async () => {
          const { rows } = await sql`select pid from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query not like '%claimed_until%'`.execute(
            service.store.db,
          );
          return rows;
        },
        { timeout: 60_000 },
      )
      .toHaveLength(1);
});
