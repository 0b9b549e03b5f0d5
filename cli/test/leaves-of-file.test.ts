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
import { type CorpusFile, eventsOf, placeOf, sampleFiles } from './worlds.ts';

const files = sampleFiles().filter(({ transcripts }) => transcripts.some(({ lines }) => lines.length > 0));

/** Changes all events of a record, since a single event may only repeat others, such as the usage repeated with each block. */
type Change = (events: Captured[], changed: Captured) => Captured[];

const isOfSame = (changed: Captured) => (event: Captured) =>
  event.payload.source.position === changed.payload.source.position;

const MUTATIONS: { [name: string]: Change } = {
  'is missing': (events, changed) => events.filter((event) => !isOfSame(changed)(event)),
  'is duplicated': (events, changed) => [...events, ...events.filter(isOfSame(changed))],
  'has an extra field': (events, changed) => {
    const payload = { ...changed.payload, again: 'no file says so' };
    return events.with(events.indexOf(changed), { ...changed, payload });
  },
};

/** Proves that the checks of files can fail. */
test.each(Object.keys(MUTATIONS))("the check of an agent's file reports a record that %s", async (name) => {
  const captured = await readWhole();
  fc.assert(
    fc.property(fc.nat(files.length - 1), fc.nat(), (number, at) => {
      const file = files[number] as CorpusFile;
      const events = eventsOf(file, captured);
      // Superseded revisions of a row do not count.
      const counted = file.kind === 'lines' ? events : countedOf(events);
      const changed = counted[at % counted.length] as Captured;
      // In a store, a duplicate is a later revision, which replaces the first one.
      fc.pre(file.kind === 'lines' || name !== 'is duplicated');
      const noticed = problemsOf(file, MUTATIONS[name]?.(events, changed) ?? []).length > 0;
      expect({ path: file.from, changed, noticed }).toEqual({ path: file.from, changed, noticed: true });
    }),
    runs(20),
  );
});

const problemsOf = (file: CorpusFile, events: Captured[]): string[] =>
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
