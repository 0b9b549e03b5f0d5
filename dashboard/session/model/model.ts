import { type Entries, type Entry, eachOf } from '../../../transcript/entry/entry.ts';
import { createLanes, type Lanes } from '../../../transcript/entry/lanes.ts';
import { readRevisions } from '../../../transcript/entry/revisions.ts';
import { settleTimes } from '../../../transcript/entry/times.ts';
import { compareWriting, type Writing } from '../../../transcript/revision.ts';
import { createTimelineBuilder, readSubagentFacts, type Timeline } from './build.ts';

/** A timeline that is built entry by entry. */
export interface Model {
  /** Adds the next entry. The cost does not depend on the number of entries before it. */
  add(entry: Entry): void;
  /** Whether an entry changed the timeline before it, so that the model has to be built again. */
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

/** Builds the model from all entries at once. It awaits `rest` now and then, so that the page stays responsive. */
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

/** Settles times like `settleTimes`, entry by entry. Unsettled if the first time of a lane comes after its untimed entries. */
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
  // With all entries at once, the guessed times are settled.
  guessed.clear();
  for (const { lane } of eachOf(entries)) if (!latest.has(lane)) guessed.add(lane);
  isUnsettled = false;
  return { settle, isUnsettled: () => isUnsettled };
}

/** Tells for each entry whether it replaces others, or belongs to a record that replaced others before. */
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
