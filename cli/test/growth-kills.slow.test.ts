import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { SEED, seeded } from '../../contract/test/runs.ts';
import { eventsByFile } from './by-file.ts';
import { makeFolder } from './folder.ts';
import { createRandom } from './random.ts';
import { startReader } from './reader-process.ts';
import { openReading } from './reading.ts';
import { expectSame } from './same.ts';
import { stagesOf } from './stages.ts';
import { createTally } from './tally.ts';
import { type CorpusFile, corpusFiles, divide, eventsOf, placeOf, sampleFiles } from './worlds.ts';

/**
 * Some files of each agent; all of them with `CAPTURE_TEST_CORPUS=all`, in groups small enough that kills hit the reading of
 * each file. The seed decides the steps and their times.
 */
const isAll = process.env.CAPTURE_TEST_CORPUS === 'all';
const STEPS = isAll ? 4 : 6;
const KILLS_A_STEP = isAll ? 2 : 1;
const GROUP_FILES = 12;

const groups = isAll ? divide(corpusFiles()).flatMap((files) => chunk(files, GROUP_FILES)) : [sampleFiles()];
const tally = createTally();
let kills = 0;
let midway = 0;
afterAll(() => {
  tally.add('all', { kills, midway });
  tally.print('kills');
});

test.each(groups.map((files, index) => ({ group: index + 1, count: files.length, files })))(
  `$count growing files give each event once although their reader is repeatedly killed (group $group) ${seeded}`,
  async ({ files, group }) => {
    const random = createRandom(SEED + group);
    const { folder, places, stages, spool } = layOut(files, STEPS, random);
    for (let step = 0; step < STEPS; step++) {
      for (const stage of stages) stage[step]?.();
      for (let kill = 0; kill < KILLS_A_STEP; kill++) {
        const reader = startReader(folder, spool, places);
        await reader.begun();
        // The first kill comes at once, when the reader is certainly reading; the others come at any time.
        if (kills > 0) await sleep(random.below(kills % 2 === 0 ? 200 : 30));
        kills++;
        if (await reader.kill()) midway++;
      }
    }
    await expectWhole(files, await readRest(spool, places));
    for (const { agent } of files)
      tally.add(agent.displayName, { files: 1, slices: STEPS, killsMeanwhile: STEPS * KILLS_A_STEP });
  },
  120_000,
);

test('at least one of the kills hit the middle of a round', () => {
  expect(midway).toBeGreaterThan(0);
});

test(`two readers of the same growing files with one spool give each event once ${seeded}`, async () => {
  const files = sampleFiles();
  const { folder, places, stages, spool } = layOut(files, 8, createRandom(SEED));
  const readers = [startReader(folder, spool, places), startReader(folder, spool, places)];
  for (const reader of readers) await reader.begun();
  for (let step = 0; step < 8; step++) {
    for (const stage of stages) stage[step]?.();
    // Wait until one reader has read the new records; the other may be at any point.
    await readers[step % 2]?.passed(2);
  }
  const before = readers.map((reader) => reader.rounds());
  // Wait until both have seen all records.
  for (const reader of readers) await reader.passed(3);
  for (const reader of readers) await reader.kill();
  expect(before.every((rounds) => rounds > 1)).toBe(true);
  await expectWhole(files, await readRest(spool, places));
}, 120_000);

function layOut(files: readonly CorpusFile[], steps: number, random: ReturnType<typeof createRandom>) {
  const folder = makeFolder();
  const places = files.map((file, index) => placeOf(file, folder, index));
  const stages = files.map((file, index) => stagesOf(file, join(folder, String(index), file.path), steps, random));
  return { folder, places, stages, spool: join(folder, 'spool.db') };
}

/** Reads the remaining records with a last reader. @returns all events in the spool */
async function readRest(spool: string, places: ReturnType<typeof placeOf>[]) {
  const reading = openReading('', spool, { places });
  expect(await reading.read()).toBe(true);
  const events = eventsByFile(reading.spool);
  reading.spool.close();
  return events;
}

async function expectWhole(files: readonly CorpusFile[], captured: ReturnType<typeof eventsByFile>): Promise<void> {
  const { places, stages } = layOut(files, 1, createRandom(0));
  for (const [stage] of stages) stage?.();
  const whole = await readRest(':memory:', places);
  for (const file of files) expectSame(file, eventsOf(file, captured), eventsOf(file, whole));
  expect([...captured.keys()].sort()).toEqual([...whole.keys()].sort());
}

function chunk<Item>(items: readonly Item[], size: number): Item[][] {
  const starts = Array.from({ length: Math.ceil(items.length / size) }, (_, index) => index * size);
  return starts.map((start) => items.slice(start, start + size));
}
