import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { FairList } from '../store/sqlite/writer-queue.ts';

interface Item {
  group: string;
  number: number;
  bytes: number;
}

const GROUPS = ['a', 'b', 'c', 'd'];

describe('a fair list', () => {
  const add = fc.record({ group: fc.constantFrom(...GROUPS), bytes: fc.nat(100) });
  const steps = fc.array(fc.option(add), { maxLength: 200 });

  test(`keeps each group's order, loses nothing, and counts correctly ${seeded}`, () => {
    const property = fc.property(steps, (all) => {
      const list = new FairList<Item>();
      const added: Item[] = [];
      const taken: Item[] = [];
      const bytesOf = (items: readonly Item[]) => items.reduce((sum, { bytes }) => sum + bytes, 0);
      const takeOne = () => {
        const item = list.take();
        expect(item !== undefined).toBe(added.length > taken.length);
        if (item) taken.push(item);
      };
      const check = () => {
        expect(list.count).toBe(added.length - taken.length);
        expect(list.bytes).toBe(bytesOf(added) - bytesOf(taken));
        const waiting = (group: string) => (item: Item) => item.group === group;
        for (const group of GROUPS) {
          const left = added.filter(waiting(group)).length - taken.filter(waiting(group)).length;
          expect(list.countOf(group)).toBe(left);
        }
      };
      for (const step of all) {
        if (step) {
          const item = { ...step, number: added.length };
          added.push(item);
          list.add(item.group, item.bytes, item);
        } else takeOne();
        check();
      }
      while (list.count > 0) takeOne();
      takeOne();
      for (const group of GROUPS) {
        expect(taken.filter((item) => item.group === group)).toEqual(added.filter((item) => item.group === group));
      }
    });
    fc.assert(property, runs(300));
  });

  test('alternates between groups, so that the longest group delays no other', () => {
    const list = new FairList<string>();
    for (let count = 0; count < 10_000; count++) list.add('long', 1, 'long');
    for (let count = 0; count < 128; count++) list.take();
    for (const group of ['b', 'c', 'd']) list.add(group, 1, group);
    const next = Array.from({ length: 6 }, () => list.take());
    expect(next).toEqual(['long', 'b', 'c', 'd', 'long', 'long']);
  });
});
