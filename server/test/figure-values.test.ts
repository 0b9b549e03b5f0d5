import { describe, expect, test } from 'vitest';
import { addFigures, type FigureChange, MOST_VALUES } from '../store/figures.ts';
import { ENGINES, openTestStore } from './engines.ts';

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
    await add(row('later', -3), row('last', -1));
    const { count } = await db
      .selectFrom('figures')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(MOST_VALUES - 1);
    await store.dispose();
  });
});
