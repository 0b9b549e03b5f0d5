import { expect, test } from 'vitest';
import { seeded } from '../../contract/test/runs.ts';
import { newId, newUuid } from '../ids.ts';
import { createRandom } from './seed.ts';

const IDS = 100_000;

test(`ids ascend strictly even if the clock stops, jumps or goes back ${seeded}`, () => {
  const random = createRandom();
  let now = Date.now();
  let previous = '';
  for (let made = 0; made < IDS; made++) {
    const at = random();
    if (at < 0.001) now += Math.floor(random() * 2_000) - 1_000;
    else if (at < 0.01) now++;
    const id = newUuid(now);
    expect(id > previous, `${previous} then ${id}`).toBe(true);
    previous = id;
  }
});

test('more ids than fit in a millisecond still ascend', () => {
  const now = Date.now();
  const ids = Array.from({ length: 3 * 4_096 }, () => newUuid(now));
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
});

test('an id is a UUIDv7 with 62 random bits at its end', () => {
  const ids = Array.from({ length: 2_000 }, () => newUuid(0));
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  expect(new Set(ids.map((id) => id.slice(16))).size).toBe(ids.length);
  // Each digit of the random part takes every possible value.
  for (let digit = 16; digit < 32; digit++) {
    expect(new Set(ids.map((id) => id[digit])).size).toBe(digit === 16 ? 4 : 16);
  }
});

test('an id tells the kind of its thing and its creation time', () => {
  // Ids never go back, and other tests in this process may have created some with a clock days ahead.
  const now = Date.now() + 90 * 86_400_000;
  const id = newId('ses', now);
  expect(id).toMatch(/^ses_[0-9a-f]{32}$/);
  expect(Number.parseInt(id.slice(4, 16), 16)).toBe(now);
});
