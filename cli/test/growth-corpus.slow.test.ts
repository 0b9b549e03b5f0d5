import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { readGrowing } from './growing.ts';
import { checkLines } from './leaves-of-file.ts';
import { checkStore } from './leaves-of-store.ts';
import { createRandom } from './random.ts';
import { expectSame } from './same.ts';
import { createTally } from './tally.ts';
import { corpusFiles, divide, eventsOf } from './worlds.ts';

/** The number of steps in which a file grows to its full size. */
const STEPS = 5;

const worlds = divide(corpusFiles()).map((files, index) => ({ world: index + 1, count: files.length, files }));
const tally = createTally();
afterAll(() => tally.print('slices'));

test.each(worlds)(
  'each leaf of $count files is captured once, and the same when read in slices with restarts between (group $world)',
  async ({ files }) => {
    const whole = await readGrowing(files, 1, createRandom(0));
    const isWithin = new Set(files.flatMap((file) => eventsOf(file, whole)));
    expect([...whole.values()].flat().filter((event) => !isWithin.has(event))).toEqual([]);
    for (const file of files) {
      const events = eventsOf(file, whole);
      const { problems, ...counts } = file.kind === 'lines' ? checkLines(file, events) : checkStore(file, events);
      expect({ path: file.from, problems }).toEqual({ path: file.from, problems: [] });
      tally.add(file.agent.displayName, { files: 1, ...counts, events: events.length });
    }

    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const grown = await readGrowing(files, STEPS, createRandom(seed));
        for (const file of files) {
          expectSame(file, eventsOf(file, grown), eventsOf(file, whole));
          tally.add(file.agent.displayName, { slices: STEPS });
        }
      }),
      { ...runs(1), endOnFailure: true },
    );
  },
  600_000,
);
