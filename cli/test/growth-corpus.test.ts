import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Captured, eventsByFile } from './by-file.ts';
import { makeFolder } from './folder.ts';
import { checkLines } from './leaves-of-file.ts';
import { checkStore } from './leaves-of-store.ts';
import { createRandom } from './random.ts';
import { openReading } from './reading.ts';
import { expectSame } from './same.ts';
import { stagesOf } from './stages.ts';
import { createTally } from './tally.ts';
import { divide, eventsOf, type Kept, keptFiles, placeOf } from './worlds.ts';

/** How often a file is met before it is whole. */
const STEPS = 5;
/** More of them with e.g. `CAPTURE_TEST_RUNS=20`. */
const RUNS = Number(process.env.CAPTURE_TEST_RUNS ?? 1);

const worlds = divide(keptFiles()).map((files, index) => ({ world: index + 1, count: files.length, files }));
const tally = createTally();
afterAll(() => tally.print('slices'));

test.each(worlds)(
  'of $count files each leaf is captured once, and the same in any slices with restarts between (group $world)',
  async ({ files }) => {
    const whole = await read(files, 1, createRandom(0));
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
        const grown = await read(files, STEPS, createRandom(seed));
        for (const file of files) {
          expectSame(file, eventsOf(file, grown), eventsOf(file, whole));
          tally.add(file.agent.displayName, { slices: STEPS });
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  },
  600_000,
);

/** What is captured of files that grow, read after each step by a reader that knows only what is in the spool. */
async function read(files: readonly Kept[], steps: number, random: ReturnType<typeof createRandom>) {
  const folder = makeFolder();
  const each = files.map((file, index) => placeOf(file, folder, index));
  // Hints and looks may name a file several times in one round.
  const places = steps === 1 ? each : [...each, ...each];
  const stages = files.map((file, index) => stagesOf(file, join(folder, String(index), file.path), steps, random));
  let captured = new Map<string, Captured[]>();
  for (let step = 0; step < steps; step++) {
    for (const stage of stages) stage[step]?.();
    const reading = openReading(folder, join(folder, 'spool.db'), { places });
    expect(await reading.read()).toBe(true);
    if (step === steps - 1) captured = eventsByFile(reading.spool);
    reading.spool.close();
  }
  return captured;
}
