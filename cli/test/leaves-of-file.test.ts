import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { type Captured, countedOf, eventsByFile } from './by-file.ts';
import { makeFolder } from './folder.ts';
import { checkLines } from './leaves-of-file.ts';
import { checkStore } from './leaves-of-store.ts';
import { createRandom } from './random.ts';
import { openReading } from './reading.ts';
import { stagesOf } from './stages.ts';
import { eventsOf, type Kept, placeOf, sampleFiles } from './worlds.ts';

const files = sampleFiles().filter(({ transcripts }) => transcripts.some(({ lines }) => lines.length > 0));

/** A record's events; some events say nothing that is only theirs, such as the usage told again with each block. */
type Change = (events: Captured[], changed: Captured) => Captured[];

const isOfSame = (changed: Captured) => (event: Captured) =>
  event.payload.source.position === changed.payload.source.position;

const MUTATIONS: { [name: string]: Change } = {
  'is missing': (events, changed) => events.filter((event) => !isOfSame(changed)(event)),
  'is there twice': (events, changed) => [...events, ...events.filter(isOfSame(changed))],
  'says something more': (events, changed) => {
    const payload = { ...changed.payload, again: 'no file says so' };
    return events.with(events.indexOf(changed), { ...changed, payload });
  },
};

/** What proves that nothing is lost must itself notice what is. */
test.each(Object.keys(MUTATIONS))('a record that %s is noticed in a file of any agent', async (name) => {
  const captured = await readWhole();
  fc.assert(
    fc.property(fc.nat(files.length - 1), fc.nat(), (number, at) => {
      const file = files[number] as Kept;
      const events = eventsOf(file, captured);
      // What was said of a row before it was written again does not count.
      const counted = file.kind === 'lines' ? events : countedOf(events);
      const changed = counted[at % counted.length] as Captured;
      // A record of a store that is there twice is a later writing, which counts in place of the first.
      fc.pre(file.kind === 'lines' || name !== 'is there twice');
      const noticed = problemsOf(file, MUTATIONS[name]?.(events, changed) ?? []).length > 0;
      expect({ path: file.from, changed, noticed }).toEqual({ path: file.from, changed, noticed: true });
    }),
    runs(20),
  );
});

const problemsOf = (file: Kept, events: Captured[]): string[] =>
  (file.kind === 'lines' ? checkLines(file, events) : checkStore(file, events)).problems;

async function readWhole() {
  const folder = makeFolder();
  const places = files.map((file, index) => placeOf(file, folder, index));
  for (const [index, file] of files.entries())
    for (const stage of stagesOf(file, join(folder, String(index), file.path), 1, createRandom(0))) stage();
  const reading = openReading('', ':memory:', { places });
  await reading.read();
  const captured = eventsByFile(reading.spool);
  reading.spool.close();
  return captured;
}
