import { expect, test } from 'vitest';
import { askedFor } from './retry.ts';

test.each([
  [30, 30_000],
  [undefined, 2000],
  [2_000_000, 900_000],
  [10 ** 12, 900_000],
])('a service that asks for %s s is waited for %d ms, a quarter of an hour at most', (retryAfter, expected) => {
  expect(askedFor({ retryAfter }, 2)).toBe(expected);
});
