import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { toJson } from './deep-json.ts';

const DEPTH = 60_000;

test('a value of any depth is written as it was read', () => {
  const array = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;
  expect(toJson(JSON.parse(array))).toBe(array);
  const object = `${'{"a":['.repeat(DEPTH)}1${']}'.repeat(DEPTH)}`;
  expect(toJson(JSON.parse(object))).toBe(object);
});

test('any value inside a deep one is written like JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      let deep: unknown = { value, left: undefined, list: [undefined, value] };
      for (let level = 0; level < DEPTH; level++) deep = [deep];
      const inner = toJson(deep).slice(DEPTH, -DEPTH);
      expect(inner).toBe(JSON.stringify({ value, left: undefined, list: [undefined, value] }));
    }),
    runs(30),
  );
});
