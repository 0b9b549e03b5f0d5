import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../contract/test/runs.ts';
import { Recent } from './recent.ts';

test('a value is valid for its time, and remains available as the last one', () => {
  const clock = { now: 0 };
  const recent = new Recent<string>({ max: 2, now: () => clock.now });
  recent.set('a', 'first', 10);
  clock.now = 9;
  expect(recent.get('a')).toBe('first');
  clock.now = 10;
  expect([recent.get('a'), recent.last('a'), [...recent.values()]]).toEqual([undefined, 'first', []]);
  recent.set('a', 'second', 10);
  expect([recent.get('a'), [...recent.values()], recent.size]).toEqual(['second', ['second'], 1]);
  recent.delete('a');
  expect([recent.last('a'), recent.size]).toEqual([undefined, 0]);
});

test('values can be deleted by what they are', () => {
  const recent = new Recent<number>({ max: 9, now: () => 0 });
  for (const value of [1, 2, 3, 4]) recent.set(String(value), value, 1);
  recent.deleteWhere((value) => value % 2 === 0);
  expect([...recent.values()]).toEqual([1, 3]);
});

test('the values that were set last are kept, however many are set', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const key = fc.constantFrom(...names);
  fc.assert(
    fc.property(fc.array(key), fc.integer({ min: 1, max: 4 }), (keys, max) => {
      const recent = new Recent<number>({ max, now: () => 0 });
      for (const [at, one] of keys.entries()) recent.set(one, at, 1);
      const kept = [...new Set(keys.toReversed())].slice(0, max);
      for (const one of names) {
        expect(recent.get(one)).toBe(kept.includes(one) ? keys.lastIndexOf(one) : undefined);
      }
      expect(recent.size).toBe(kept.length);
    }),
    runs(300),
  );
});
