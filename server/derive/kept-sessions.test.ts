import { expect, test } from 'vitest';
import { noFacts } from './facts.ts';
import { KeptSessions } from './kept-sessions.ts';

const session = (through: number, weight = 1) => ({
  through,
  facts: noFacts(),
  rows: { days: [], values: new Map() },
  open: {},
  records: undefined,
  weight,
});

test('returns a session once, and only in its state after that event', () => {
  const kept = new KeptSessions();
  kept.put('a', session(5));
  kept.put('b', session(5));
  expect(kept.take('a', 5)?.through).toBe(5);
  expect(kept.take('a', 5)).toBeUndefined();
  expect(kept.take('b', 4)).toBeUndefined();
  expect(kept.take('b', 5)).toBeUndefined();
});

test('drops the least recently used sessions when all together are too large', () => {
  const kept = new KeptSessions();
  for (let n = 0; n < 100; n++) kept.put(`s${n}`, session(n, 200_000));
  const known = Array.from({ length: 100 }, (_, n) => kept.take(`s${n}`, n) !== undefined);
  expect(known.indexOf(true)).toBe(70);
  expect(known.slice(70).every(Boolean)).toBe(true);
});

test('keeps nothing of a session that is larger than its limit', () => {
  const kept = new KeptSessions();
  kept.put('small', session(1));
  kept.put('large', session(1, 7_000_000));
  expect(kept.take('large', 1)).toBeUndefined();
});
