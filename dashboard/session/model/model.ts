import { type Entries, type Entry, eachOf } from '../../../contract/entry/entry.ts';
import { createLanes, type Lanes } from '../../../contract/entry/lanes.ts';
import { readRevisions } from '../../../contract/entry/revisions.ts';
import { settleTimes } from '../../../contract/entry/times.ts';
import { compareWriting, type Writing } from '../../../contract/revision.ts';
import { createTimelineBuilder, readSubagentFacts, type Timeline } from './build.ts';

/** The timeline of entries that come one after the other. */
export interface Model {
  /** Takes the entry that follows the ones before; its cost does not depend on how many those are. */
  add(entry: Entry): void;
  /** What came does not only follow what was there: the timeline has to be made anew. */
  isStale(): boolean;
  timeline(): Timeline;
}

interface Before {
  lanes: Lanes;
  settle(entry: Entry): Entry;
  builder: ReturnType<typeof createTimelineBuilder>;
  isRewritten(entry: Entry): boolean;
}

export const createModel = (): Model =>
  continueFrom({
    lanes: createLanes(),
    builder: createTimelineBuilder(),
    ...createSettling([]),
    isRewritten: createWatch([]),
  });

/** The same from all entries at once. `rest` is waited for now and then, so that the page stays awake. */
export async function rebuildModel(entries: Entries, rest: () => Promise<void> | undefined): Promise<Model> {
  const lanes = createLanes();
  const settled = settleTimes(entries.map((entry) => entry && lanes.settle(entry)));
  const revisions = readRevisions(settled);
  await rest();
  const builder = createTimelineBuilder(readSubagentFacts(settled), revisions.orders);
  for (const entry of eachOf(settled)) {
    for (const standing of revisions.standingAt(entry)) builder.add(standing);
    const pause = rest();
    if (pause) await pause;
  }
  return continueFrom({ lanes, builder, ...createSettling(settled), isRewritten: createWatch(entries) });
}

function continueFrom({
  lanes,
  settle,
  builder,
  isRewritten,
  isUnsettled,
}: Before & { isUnsettled(): boolean }): Model {
  let isStale = false;
  return {
    add(entry) {
      if (isRewritten(entry)) isStale = true;
      builder.add(settle(lanes.settle(entry)));
    },
    isStale: () => isStale || isUnsettled() || builder.isStale(),
    timeline: builder.finish,
  };
}

/** Times as `settleTimes` gives them, one after the other. Stale where a first time comes after it was missed. */
function createSettling(entries: Entries) {
  const latest = new Map<string | undefined, number>();
  const guessed = new Set<string | undefined>();
  let isUnsettled = false;
  const settle = (entry: Entry): Entry => {
    if (entry.timed) {
      if (guessed.has(entry.lane) || (!latest.has(undefined) && entry.lane === undefined && guessed.size > 0)) {
        isUnsettled = true;
      }
      latest.set(entry.lane, entry.time);
      return entry;
    }
    if (!latest.has(entry.lane)) guessed.add(entry.lane);
    const time = latest.get(entry.lane) ?? latest.get(undefined);
    return time === undefined ? entry : { ...entry, time };
  };
  for (const entry of eachOf(entries)) settle(entry);
  // What was guessed at is settled now: all of it was there at once.
  guessed.clear();
  for (const { lane } of eachOf(entries)) if (!latest.has(lane)) guessed.add(lane);
  isUnsettled = false;
  return { settle, isUnsettled: () => isUnsettled };
}

/** Tells of each entry whether it takes the place of others, or adds to a record that once did. */
function createWatch(entries: Entries): (entry: Entry) => boolean {
  const records = new Map<string, { counted: Pick<Writing, 'revision' | 'index'>; isRewritten: boolean }>();
  const watch = ({ writing }: Entry): boolean => {
    if (!writing) return false;
    const { key, revision, index } = writing;
    const known = records.get(key);
    if (!known) {
      records.set(key, { counted: { revision, index }, isRewritten: false });
      return false;
    }
    const step = compareWriting({ revision, index }, known.counted);
    if (step !== 'history') known.counted = { revision, index };
    if (step !== 'continues') known.isRewritten = true;
    return known.isRewritten;
  };
  for (const entry of eachOf(entries)) watch(entry);
  return watch;
}
