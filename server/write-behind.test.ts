import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../contract/test/runs.ts';
import { WriteBehind, type WriteBehindOptions } from './write-behind.ts';

interface Count {
  key: string;
  count: number;
}

/** Counts that are written to a map. `away` makes the store fail, and `held` makes a write wait. */
function createCounts(options: Partial<WriteBehindOptions<Count>> = {}) {
  const store = new Map<string, number>();
  const state = { away: false, held: undefined as Promise<void> | undefined, writes: 0 };
  const counts = new WriteBehind<Count>({
    keyOf: ({ key }) => key,
    merge: (one, other) => ({ ...one, count: one.count + other.count }),
    async write(entries) {
      state.writes++;
      await state.held;
      if (state.away) throw new Error('the store is away');
      for (const { key, count } of entries) store.set(key, (store.get(key) ?? 0) + count);
    },
    atOnce: 2,
    ...options,
  });
  return { counts, store, state };
}

test('counts are summed by key, and written in parts', async () => {
  const { counts, store, state } = createCounts();
  for (const key of ['a', 'b', 'a', 'c', 'a']) counts.add({ key, count: 1 });
  await counts.flush();
  expect(Object.fromEntries(store)).toEqual({ a: 3, b: 1, c: 1 });
  expect(state.writes).toBe(2);
  await counts.flush();
  expect(state.writes).toBe(2);
});

test('two flushes at once write a count once, and both wait until it is stored', async () => {
  const { counts, store, state } = createCounts();
  const held = Promise.withResolvers<void>();
  state.held = held.promise;
  counts.add({ key: 'a', count: 1 });
  const first = counts.flush();
  const second = counts.flush().then(() => store.get('a'));
  held.resolve();
  await first;
  expect(await second).toBe(1);
});

test('a flush after a failed one writes what the failed one could not write', async () => {
  const { counts, store, state } = createCounts();
  state.away = true;
  counts.add({ key: 'a', count: 1 });
  const failed = expect(counts.flush()).rejects.toThrow('the store is away');
  const next = counts.flush().catch(() => undefined);
  await failed;
  await next;
  state.away = false;
  await counts.flush();
  expect(store.get('a')).toBe(1);
});

test('entries beyond the most are dropped, and known keys are counted further', async () => {
  let dropped = 0;
  const { counts, store } = createCounts({ maxWaiting: 1, onDropped: () => dropped++ });
  for (const key of ['a', 'b', 'a']) counts.add({ key, count: 1 });
  await counts.flush();
  expect([dropped, Object.fromEntries(store)]).toEqual([1, { a: 2 }]);
});

test('no count is lost or written twice, whenever the store fails', async () => {
  const step = fc.oneof(
    fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), count: fc.integer({ min: 0, max: 9 }) }),
    fc.constantFrom('flush' as const, 'fail' as const, 'recover' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { counts, store, state } = createCounts();
      let added = 0;
      const flushes: Promise<unknown>[] = [];
      for (const one of steps) {
        if (typeof one !== 'string') {
          added += one.count;
          counts.add(one);
        } else if (one === 'flush') {
          flushes.push(counts.flush().catch(() => undefined));
          await Promise.resolve();
        } else state.away = one === 'fail';
      }
      state.away = false;
      await Promise.all(flushes);
      await counts.flush();
      expect(store.values().reduce((sum, count) => sum + count, 0)).toBe(added);
    }),
    runs(200),
  );
});
