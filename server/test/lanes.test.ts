import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { createLanes } from '../store/sqlite/lanes.ts';

interface Item {
  lane: string;
  number: number;
  bytes: number;
}

describe('lanes', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ lane: fc.constantFrom('a', 'b', 'c', 'd'), bytes: fc.nat(100) }),
      fc.record({ count: fc.integer({ min: 1, max: 10 }), room: fc.integer({ min: 1, max: 300 }) }),
    ),
    { maxLength: 200 },
  );

  test(`keep each lane's order, lose nothing, and count right ${seeded}`, () => {
    const property = fc.property(steps, (all) => {
      const lanes = createLanes<Item>();
      const added: Item[] = [];
      const taken: Item[] = [];
      const check = () => {
        expect(lanes.count).toBe(added.length - taken.length);
        const bytesOf = (items: readonly Item[]) => items.reduce((sum, { bytes }) => sum + bytes, 0);
        expect(lanes.bytes).toBe(bytesOf(added) - bytesOf(taken));
      };
      for (const step of all) {
        if ('lane' in step) {
          const item = { ...step, number: added.length };
          added.push(item);
          lanes.add(item.lane, item.bytes, item);
        } else {
          const group = lanes.take(step.count, step.room);
          expect(group.length > 0).toBe(added.length > taken.length);
          expect(group.length).toBeLessThanOrEqual(step.count);
          const bytes = group.reduce((sum, item) => sum + item.bytes, 0);
          if (group.length > 1) expect(bytes).toBeLessThanOrEqual(step.room);
          taken.push(...group);
        }
        check();
      }
      while (lanes.count > 0) taken.push(...lanes.take(7, 100));
      check();
      expect(lanes.take(1, 1)).toEqual([]);
      for (const lane of ['a', 'b', 'c', 'd']) {
        expect(taken.filter((item) => item.lane === lane)).toEqual(added.filter((item) => item.lane === lane));
      }
    });
    fc.assert(property, runs(300));
  });

  test('take turns, so that the longest does not keep another waiting for more than a group', () => {
    const lanes = createLanes<string>();
    for (let count = 0; count < 10_000; count++) lanes.add('long', 1, 'long');
    expect(lanes.take(128, 1_000_000)).toHaveLength(128);
    for (const lane of ['b', 'c', 'd']) lanes.add(lane, 1, lane);
    expect(lanes.take(8, 1_000_000)).toEqual(['long', 'b', 'c', 'd', 'long', 'long', 'long', 'long']);
  });

  test('let one item through that is larger than all a group takes, alone', () => {
    const lanes = createLanes<string>();
    lanes.add('a', 10, 'small');
    lanes.add('b', 1_000, 'large');
    lanes.add('c', 10, 'small too');
    expect([lanes.take(9, 100), lanes.take(9, 100), lanes.take(9, 100)]).toEqual([['small'], ['large'], ['small too']]);
  });
});
