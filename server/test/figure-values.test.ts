import { describe, expect, test } from 'vitest';
import { figuresOfSession } from '../derive/figures.ts';
import { sweepDeleted } from '../store/deletions.ts';
import { addFigures, type FigureChange, MOST_VALUES } from '../store/figures.ts';
import { ENGINES, openTestStore } from './engines.ts';
import { createTenant, registerMachine } from './factories.ts';
import { startTestService } from './harness.ts';
import { explain } from './plans.ts';
import { called, sessionWith } from './searched.ts';

const row = (value: string, prompts: number): FigureChange => ({
  ...{ day: '2026-11-20', dimension: 'repository', value, model: '', sessions: 0, prompts, tool_calls: 0 },
  ...{ failures: 0, input_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
});

describe.each(ENGINES)('the values of a day on %s', (engine) => {
  test('are bounded: what comes later is added up under one, and taken off there', async () => {
    const store = await openTestStore(engine);
    const { db } = store;
    const add = (...rows: FigureChange[]) => addFigures(db, 'org_1', 'live', rows);
    const all = Array.from({ length: MOST_VALUES - 1 }, (_, n) => row(`r${n}`, 1));
    for (let from = 0; from < all.length; from += 1_000) await add(...all.slice(from, from + 1_000));
    await add(row('r0', 1), row('last', 1), row('late', 2), row('later', 3));
    const read = async () => {
      const rows = await db.selectFrom('figures').select(['value', 'prompts']).where('prompts', '>', 1).execute();
      return rows.map(({ value, prompts }) => [value, prompts]).sort();
    };
    expect(await read()).toEqual(
      [
        ['', 5],
        ['r0', 2],
      ].sort(),
    );
    await add(row('late', -2));
    expect(await read()).toEqual(
      [
        ['', 3],
        ['r0', 2],
      ].sort(),
    );
    // There is room again: still they are taken off where they were added.
    await add(row('last', -1), row('r1', -1));
    await add(row('later', -3));
    const { count } = await db
      .selectFrom('figures')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(MOST_VALUES - 2);
    await store.dispose();
  });

  test('may be no text that a store keeps, and hold up nothing of their session', async () => {
    const service = await startTestService(engine);
    const tenant = await createTenant(service);
    const machine = await registerMachine(service, tenant.live);
    const names = ['nul\0', 'half\ud800', 'half\udfff'];
    const spent = names.map((model) => ({ eventType: 'usage', payload: { model, inputTokens: 1, outputTokens: 1 } }));
    const sessionId = await sessionWith(service, tenant, machine, [...names.map((name) => called(name, {})), ...spent]);
    const { body } = await service.call('GET', '/v1/organizations/me/usage', { as: tenant.member });
    const tools = body.tools.map(({ name, calls }: { name: string; calls: number }) => [name, calls]);
    expect(tools).toEqual([
      ['half\ufffd', 2],
      ['nul\ufffd', 1],
    ]);
    await service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: tenant.owner });
    await sweepDeleted(service.store.db, () => service.clock.now, figuresOfSession);
    expect(await service.store.db.selectFrom('figures').selectAll().execute()).toEqual([]);
    await service.close();
  });

  test('of which nothing is left are looked up one by one, however many others there are', async () => {
    const store = await openTestStore(engine);
    const many = (prompts: number) => Array.from({ length: 400 }, (_, n) => row(`r${n}`, prompts));
    await addFigures(store.db, 'org_1', 'live', many(1));
    const rows = await explain(store, (db) => addFigures(db, 'org_1', 'live', many(-1)));
    if (engine === 'sqlite') {
      const key = ['organization_id', 'plane', 'dimension', 'day', 'value', 'model'].map((name) => `${name}=?`);
      expect(rows.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(`(${key.join(' AND ')})`));
    }
    expect(await store.db.selectFrom('figures').selectAll().execute()).toEqual([]);
    await store.dispose();
  });
});
