import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patience, runs } from '../../contract/test/runs.ts';
import { AGENTS } from '../agents/all.ts';
import { readGrowing } from './growing.ts';
import { createRandom } from './random.ts';
import { expectSame } from './same.ts';
import { divide, eventsOf, writtenFiles } from './worlds.ts';

const groups = divide(writtenFiles());

test('every agent has sessions to test with', () => {
  expect(new Set(groups.flat().map(({ agent }) => agent))).toEqual(new Set(AGENTS));
});

/** Reads the small sessions in many ways; `growth-corpus.test.ts` reads the large ones. */
test.each(groups.map((files, index) => ({ group: index + 1, files })))(
  'sessions of every agent give the same events when read in slices with restarts between (group $group)',
  async ({ files }) => {
    const whole = await readGrowing(files, 1, createRandom(0));
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 2, max: 8 }), async (seed, steps) => {
        const grown = await readGrowing(files, steps, createRandom(seed));
        for (const file of files) expectSame(file, eventsOf(file, grown), eventsOf(file, whole));
        expect([...grown.keys()].sort()).toEqual([...whole.keys()].sort());
      }),
      runs(2),
    );
  },
  patience(120_000),
);
