import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { createLanes } from '../store/sqlite/lanes.ts';

interface Item {
  lane: string;
  number: number;
  bytes: number;
}

const LANES = ['a', 'b', 'c', 'd'];

describe('lanes', () => {
  const add = fc.record({ lane: fc.constantFrom(...LANES), bytes: fc.nat(100) });
  const steps = fc.array(fc.option(add), { maxLength: 200 });

  test(`keep each lane's order, lose nothing, and count right ${seeded}`, () => {
    const property = fc.property(steps, (all) => {
      const lanes = createLanes<Item>();
      const added: Item[] = [];
      const taken: Item[] = [];
      const bytesOf = (items: readonly Item[]) => items.reduce((sum, { bytes }) => sum + bytes, 0);
      const takeOne = () => {
        const item = lanes.take();
        expect(item !== undefined).toBe(added.length > taken.length);
        if (item) taken.push(item);
      };
      const check = () => {
        expect(lanes.count).toBe(added.length - taken.length);
        expect(lanes.bytes).toBe(bytesOf(added) - bytesOf(taken));
        const waiting = (lane: string) => (item: Item) => item.lane === lane;
        for (const lane of LANES) {
          const left = added.filter(waiting(lane)).length - taken.filter(waiting(lane)).length;
          expect(lanes.countOf(lane)).toBe(left);
        }
      };
      for (const step of all) {
        if (step) {
          const item = { ...step, number: added.length };
          added.push(item);
          lanes.add(item.lane, item.bytes, item);
        } else takeOne();
        check();
      }
      while (lanes.count > 0) takeOne();
      takeOne();
      for (const lane of LANES) {
        expect(taken.filter((item) => item.lane === lane)).toEqual(added.filter((item) => item.lane === lane));
      }
    });
    fc.assert(property, runs(300));
  });

  test('take turns, so that the longest keeps no other waiting', () => {
    const lanes = createLanes<string>();
    for (let count = 0; count < 10_000; count++) lanes.add('long', 1, 'long');
    for (let count = 0; count < 128; count++) lanes.take();
    for (const lane of ['b', 'c', 'd']) lanes.add(lane, 1, lane);
    const next = Array.from({ length: 6 }, () => lanes.take());
    expect(next).toEqual(['long', 'b', 'c', 'd', 'long', 'long']);
  });
});
