import { expect, test } from 'vitest';
import { compiledOnUse } from './compiled.ts';

test('a schema is compiled on its first use, and only once for all routes that use it', () => {
  const compiled: object[] = [];
  const obtain = compiledOnUse((schema: object) => {
    compiled.push(schema);
    return { of: schema };
  });
  const [shared, unused] = [{}, {}];
  const [first, second] = [obtain(shared), obtain(shared)];
  obtain(unused);
  expect(compiled).toEqual([]);
  expect(first()).toBe(second());
  expect(first()).toEqual({ of: shared });
  expect(compiled).toEqual([shared]);
});
