import { join } from 'node:path';
import { expect } from 'vitest';
import { type Captured, eventsByFile } from './by-file.ts';
import { makeFolder } from './folder.ts';
import type { createRandom } from './random.ts';
import { openReading } from './reading.ts';
import { stagesOf } from './stages.ts';
import { type CorpusFile, placeOf } from './worlds.ts';

/** Captures growing files, with a new reader after each step that knows only the spool. */
export async function readGrowing(
  files: readonly CorpusFile[],
  steps: number,
  random: ReturnType<typeof createRandom>,
): Promise<Map<string, Captured[]>> {
  const folder = makeFolder();
  const each = files.map((file, index) => placeOf(file, folder, index));
  // Hints and scans may name a file several times in one round.
  const places = steps === 1 ? each : [...each, ...each];
  const stages = files.map((file, index) => stagesOf(file, join(folder, String(index), file.path), steps, random));
  let captured = new Map<string, Captured[]>();
  for (let step = 0; step < steps; step++) {
    for (const stage of stages) stage[step]?.();
    // The record that names the session of a file may be yet to come.
    const patienceMs = step < steps - 1 ? Number.POSITIVE_INFINITY : 0;
    const reading = openReading(folder, join(folder, 'spool.db'), { places, patienceMs });
    expect(await reading.read()).toBe(true);
    if (step === steps - 1) captured = eventsByFile(reading.spool);
    reading.spool.close();
  }
  return captured;
}
