import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chainKeyOf, newChainKey, saltKeysOf, saltsOf, saltsUpTo, withoutSalts } from '../salts.ts';
import { runs } from './runs.ts';

const KEY = newChainKey();
const WHOLE = saltKeysOf(KEY);
const SEQUENCE = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 32 - 2 }));

test('every event has its own salt, in any order of asking', () => {
  fc.assert(
    fc.property(fc.uniqueArray(SEQUENCE, { minLength: 1, maxLength: 60 }), (sequences) => {
      const salts = saltsOf(WHOLE);
      const inOrder = sequences.map(salts);
      expect(new Set(inOrder).size).toBe(sequences.length);
      expect(sequences.map((sequence) => saltsOf(WHOLE)(sequence))).toEqual(inOrder);
      expect(inOrder).not.toContain(KEY);
    }),
    runs(100),
  );
});

test('keys without the salts of some events give all others, and nothing that leads to a removed one', () => {
  const SOME = fc.uniqueArray(SEQUENCE, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(SOME, SOME, (removed, asked) => {
      const left = withoutSalts(WHOLE, removed);
      const [before, after] = [saltsOf(WHOLE), saltsOf(left)];
      for (const sequence of asked) {
        expect(after(sequence)).toBe(removed.includes(sequence) ? undefined : before(sequence));
      }
      // No key that is left is on the path to a removed salt.
      const paths = removed.flatMap((sequence) =>
        Array.from({ length: 33 }, (_, level) => Math.floor((2 ** 32 + sequence) / 2 ** level)),
      );
      for (const node of Object.keys(left)) expect(paths).not.toContain(Number(node));
      expect(chainKeyOf(left)).toBeUndefined();
    }),
    runs(100),
  );
});

test('the order in which salts are removed does not matter, and removing one again changes nothing', () => {
  fc.assert(
    fc.property(fc.uniqueArray(SEQUENCE, { maxLength: 30 }), fc.nat(), (removed, at) => {
      const left = withoutSalts(WHOLE, removed);
      const turned = [...removed.slice(at % 30), ...removed.slice(0, at % 30)].reverse();
      expect(turned.reduce((keys, sequence) => withoutSalts(keys, [sequence]), WHOLE)).toEqual(left);
      expect(withoutSalts(left, removed)).toEqual(left);
    }),
    runs(100),
  );
});

test('keys up to an event give no later salt', () => {
  fc.assert(
    fc.property(SEQUENCE, fc.array(SEQUENCE, { maxLength: 10 }), SEQUENCE, (last, removed, asked) => {
      const keys = withoutSalts(WHOLE, removed);
      expect(saltsOf(saltsUpTo(keys, last))(asked)).toBe(asked > last ? undefined : saltsOf(keys)(asked));
    }),
    runs(300),
  );
});

test('the keys of a session in which every second event is masked are as many as the other events', () => {
  const removed = Array.from({ length: 2_000 }, (_, at) => 2 * at + 1);
  expect(Object.keys(saltsUpTo(withoutSalts(WHOLE, removed), 4_000)).length).toBeLessThan(2_050);
  const all = Array.from({ length: 4_000 }, (_, at) => at + 1);
  expect(Object.keys(saltsUpTo(withoutSalts(WHOLE, all), 4_000)).length).toBeLessThan(40);
});
