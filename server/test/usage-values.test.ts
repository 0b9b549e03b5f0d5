import { describe, expect, test } from 'vitest';
import { NOTHING } from '../derive/day-figures.ts';
import { DaySums } from '../derive/day-sums.ts';
import { purgeRemoved } from '../erase/purge.ts';
import { removeAllDerived } from '../store/derived-removal.ts';
import { runAll } from '../store/rows.ts';
import type { Db } from '../store/schema.ts';
import { replaceSessionDays, type SessionDay } from '../store/session-rows.ts';
import { listDaysBehind, sumDay } from '../store/summed-days.ts';
import { ENGINES, openTestStore } from './engines.ts';
import { createTenant, registerMachine } from './factories.ts';
import { startTestService } from './harness.ts';
import { called, sessionWith } from './searched.ts';

const DAY = '2026-11-20';

const toolRow = (name: string, calls: number, day = DAY): SessionDay => ({
  day,
  kind: 'tool',
  name,
  agent_id: null,
  environment_id: null,
  repository: null,
  ...NOTHING,
  tool_calls: calls,
});

const replace = (db: Db, sessionId: string, rows: SessionDay[]) =>
  db.transaction().execute(async (transaction) => {
    const session = { session_id: sessionId, organization_id: 'org_1', plane: 'live' } as const;
    await runAll(transaction, replaceSessionDays(db, session, rows));
  });

const readTools = async (db: Db) => {
  const rows = await db
    .selectFrom('usage_days')
    .select(['value', 'tool_calls'])
    .where('dimension', '=', 'tool')
    .execute();
  return rows.map(({ value, tool_calls }) => [value, tool_calls]).sort();
};

describe.each(ENGINES)('the sums of a day on %s', (engine) => {
  test('keep the 2,000 largest values of a dimension, however many tools the events name', async () => {
    const store = await openTestStore(engine);
    const many = Array.from({ length: 2_100 }, (_, n) => toolRow(`tool${n}`, 1 + n));
    await replace(store.db, 'ses_1', many);
    for (const day of await listDaysBehind(store.db, undefined, 10)) await sumDay(store.db, day);
    const tools = await readTools(store.db);
    expect(tools).toHaveLength(2_000);
    expect(tools).toContainEqual(['tool2099', 2_100]);
    expect(tools).not.toContainEqual(['tool99', 100]);
    await store.dispose();
  });

  test('that are based on older rows never replace newer sums, and the day stays behind', async () => {
    const store = await openTestStore(engine);
    const { db } = store;
    await replace(db, 'ses_1', [toolRow('shell', 1)]);
    const [older] = await listDaysBehind(db, undefined, 10);
    await replace(db, 'ses_2', [toolRow('shell', 2)]);
    const [newer] = await listDaysBehind(db, undefined, 10);
    if (!older || !newer) throw new Error('no day is behind');
    expect(await sumDay(db, newer)).toBe(true);
    expect(await listDaysBehind(db, undefined, 10)).toEqual([]);
    expect(await sumDay(db, older)).toBe(false);
    expect(await readTools(db)).toEqual([['shell', 3]]);
    // Sums that miss a change leave the day behind, and the next sums include the change.
    await replace(db, 'ses_1', []);
    const [behind] = await listDaysBehind(db, undefined, 10);
    await replace(db, 'ses_2', [toolRow('shell', 7)]);
    if (behind) await sumDay(db, behind);
    expect(await listDaysBehind(db, undefined, 10)).toHaveLength(1);
    await store.dispose();
  });

  test('that began before all rows were removed leave the day behind, so that later rows are added', async () => {
    const store = await openTestStore(engine);
    const { db } = store;
    for (const calls of [1, 2, 3]) await replace(db, 'ses_1', [toolRow('shell', calls)]);
    const [begun] = await listDaysBehind(db, undefined, 10);
    if (!begun) throw new Error('no day is behind');
    await removeAllDerived(db);
    await replace(db, 'ses_1', [toolRow('shell', 3)]);
    await sumDay(db, begun);
    await replace(db, 'ses_2', [toolRow('shell', 4)]);
    for (const day of await listDaysBehind(db, undefined, 10)) await sumDay(db, day);
    expect(await readTools(db)).toEqual([['shell', 7]]);
    await store.dispose();
  });

  test('count as behind if one day fails, and the other days are still summed', async () => {
    const store = await openTestStore(engine);
    const later = '2026-11-21';
    await replace(store.db, 'ses_1', [toolRow('shell', 1), toolRow('grep', 2, later)]);
    let isBroken = true;
    const db = store.db.withPlugin({
      transformQuery({ node, queryId }) {
        const { sql, parameters } = store.db.getExecutor().compileQuery(node, queryId);
        if (isBroken && sql.includes('usage_days') && parameters.includes(later)) throw new Error('no');
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const errors: unknown[] = [];
    const sums = new DaySums({ db, longReads: store.longReads }, (error) => void errors.push(error));
    const reach = () => sums.reach({ organizationId: 'org_1', planes: ['live'], from: DAY, to: later }, 60_000);
    expect(await reach()).toBe(false);
    expect(errors).toMatchObject([{ message: 'no' }]);
    expect(await readTools(db)).toEqual([['shell', 1]]);
    isBroken = false;
    expect(await Promise.all([reach(), reach()])).toEqual([true, true]);
    expect(await readTools(db)).toEqual([
      ['grep', 2],
      ['shell', 1],
    ]);
    await sums.close();
    await store.dispose();
  });

  test('accept names that a store cannot keep, and lose them with their session', async () => {
    const service = await startTestService(engine);
    const tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    const names = ['nul\0', 'half\ud800', 'half\udfff'];
    const spent = names.map((model) => ({ eventType: 'usage', payload: { model, inputTokens: 1, outputTokens: 1 } }));
    const sessionId = await sessionWith(service, tenant, machine, [...names.map((name) => called(name, {})), ...spent]);
    const read = async () => (await service.call('GET', '/v1/organizations/me/usage', { as: tenant.member })).body;
    const tools = (await read()).tools.map(({ name, calls }: { name: string; calls: number }) => [name, calls]);
    expect(tools).toEqual([
      ['half\ufffd', 2],
      ['nul\ufffd', 1],
    ]);
    await service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: tenant.owner });
    await purgeRemoved(service.store.db, () => service.clock.now);
    await expect.poll(async () => (await read()).total.sessions).toBe(0);
    expect(await service.store.db.selectFrom('session_days').selectAll().execute()).toEqual([]);
    expect(await service.store.db.selectFrom('usage_days').selectAll().execute()).toEqual([]);
    await service.close();
  });
});
