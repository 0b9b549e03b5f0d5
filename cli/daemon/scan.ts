import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, transcriptAt } from '../read/discover.ts';
import type { Work } from '../read/reader.ts';
import type { Watch } from './watch.ts';

export interface ScanOptions {
  places: readonly Place[];
  /** Hook inboxes: reading one adds to the agent's transcripts elsewhere. */
  inboxes?: readonly Place[];
  watch: Pick<Watch, 'add' | 'isComplete'>;
  /** Milliseconds of a clock that is never set. */
  tick: () => number;
  /** Milliseconds since 1970, as the file system counts. */
  now: () => number;
}

/** Files that are read before a full scan. */
interface Item {
  place: Place;
  /** The system says that it has changed. */
  isNoticed: boolean;
  /** Not before then, since reading it costs much, or has failed. */
  restUntil: number;
  /** How often in a row it could not be read. */
  failures: number;
}

const ACTIVE_MS = 10 * 60_000;
const MAX_ACTIVE = 64;
/** Reading a file that is written again and again takes at most 3 % of a processor, and what goes with it another 2 %. */
const REST_TIMES = 30;
const MAX_REST_MS = 60_000;
/** After the first failure, and doubled with each further one: a database that its agent has locked is waited for a second. */
const FAILED_REST_MS = 250;
/** An agent that runs for the first time makes its folder then. */
const ABSENT_MS = 5000;

/**
 * How often all files are checked, and the recently written ones. An idle file takes 7 to 12 µs: 0.02 % of a processor.
 * This finds the changes that the system does not report, and takes 4 % at most.
 */
const PACE = {
  complete: { activeMs: 2000, allMs: 60_000, msAFile: 48 },
  incomplete: { activeMs: 500, allMs: 1500, msAFile: 0.3 },
};

/** When to have what read: a notice makes it sooner, and without any it is found as well. */
export function createScan({ places, inboxes = [], watch, tick, now }: ScanOptions) {
  const roots = [...places, ...inboxes];
  const items = new Map<string, Item>();
  /** Files that changed lately, the latest last, and until when they are checked often. */
  const active = new Map<Item, number>();
  let there = new Set<Place>();
  let everythingAt = 0;
  let activeAt = 0;
  let rootsAt = 0;

  const pace = () => PACE[watch.isComplete() ? 'complete' : 'incomplete'];

  function ensure({ agent, root, below }: Place): Item {
    const key = `${agent.id}\0${root}\0${below}`;
    const item = items.get(key) ?? { place: { agent, root, below }, isNoticed: false, restUntil: 0, failures: 0 };
    items.set(key, item);
    return item;
  }

  function activate(item: Item): void {
    active.delete(item);
    active.set(item, tick() + ACTIVE_MS);
    const [oldest] = active.keys();
    if (active.size > MAX_ACTIVE && oldest !== undefined) active.delete(oldest);
  }

  function schedule(files: number): void {
    const { allMs, msAFile } = pace();
    everythingAt = tick() + Math.max(allMs, files * msAFile);
  }

  function notice(place: Place): void {
    const { agent, root, below } = place;
    const isInbox = inboxes.some((inbox) => inbox.root === root);
    if (isInbox) for (const other of places) if (other.agent === agent) ensure(other).isNoticed = true;
    const isTranscript = transcriptAt(agent, below) !== undefined;
    // The target of a link may be known by another name.
    if (!isTranscript && below !== '' && isLink(place)) everythingAt = 0;
    else ensure(place).isNoticed = true;
    if (isTranscript) activate(ensure(place));
  }

  /** Notices roots that are there for the first time, or again. */
  function lookForRoots(): void {
    const before = there;
    there = new Set(roots.filter(({ root, below }) => existsSync(join(root, below))));
    for (const root of there) if (!before.has(root) && everythingAt > tick()) notice(root);
    rootsAt = tick() + ABSENT_MS;
  }

  function forgetIdle(): void {
    for (const [item, until] of active) if (until <= tick()) active.delete(item);
    for (const [key, item] of items) {
      const isIdle = !item.isNoticed && !active.has(item) && item.restUntil <= tick() && item.failures === 0;
      if (isIdle) items.delete(key);
    }
  }

  /** Checks often the new files that were written lately. */
  function follow(sessions: Work['sessions']): void {
    for (const { found, stored } of sessions.flat()) {
      if (now() - found.modifiedAt < ACTIVE_MS) activate(ensure({ ...found, below: stored?.file ?? found.path }));
    }
  }

  const isDue = ({ isNoticed, restUntil }: Item) => isNoticed && restUntil <= tick();
  const watched = (place: Place): Place => ({ ...place, onFolder: watch.add });

  return {
    /** The system says that this has changed. */
    notice,
    /** What may have changed, and is to be read now. */
    take(): Place[] {
      if (rootsAt <= tick()) lookForRoots();
      forgetIdle();
      const isActiveDue = activeAt <= tick() && everythingAt > tick();
      if (isActiveDue) activeAt = tick() + pace().activeMs;
      const due = [...items.values()].filter(
        (item) => isDue(item) || (isActiveDue && active.has(item) && item.restUntil <= tick()),
      );
      for (const item of due) item.isNoticed = false;
      return due.map(({ place }) => watched(place));
    },
    /** All places but what rests, where it is time to have everything read that is new in them; else none. */
    takeEverything(): readonly Place[] {
      if (everythingAt > tick()) return [];
      schedule(0);
      const resting = [...items.values()].filter(({ restUntil }) => restUntil > tick());
      for (const item of resting) item.isNoticed = true;
      return roots.map((root) => {
        const ofRoot = resting.filter(({ place }) => place.agent === root.agent && place.root === root.root);
        return watched({ ...root, except: ofRoot.map(({ place }) => place.below) });
      });
    },
    /** Everything was checked; these are the files to read. */
    learn({ files, sessions }: Pick<Work, 'files' | 'sessions'>): void {
      schedule(files);
      follow(sessions);
    },
    follow,
    /** Whether something that was noticed waits to be read. */
    isNoticed: (): boolean => items.values().some(isDue),
    /** Reading it took this long, or failed: new writes are ignored for a while. */
    leaveAlone(place: Place, costMs: number, hasFailed = false): void {
      const item = ensure(place);
      item.failures = hasFailed ? item.failures + 1 : 0;
      const failedMs = hasFailed ? FAILED_REST_MS * 2 ** item.failures : 0;
      item.restUntil = tick() + Math.min(MAX_REST_MS, Math.max(costMs * REST_TIMES, failedMs));
    },
    /** Everything is to be read at once: after a sleep, or when something got in between. */
    expire(): void {
      everythingAt = 0;
    },
    /** Milliseconds until the next look. */
    pauseMs(): number {
      const noticedAt = items.values().map(({ isNoticed, restUntil }) => (isNoticed ? restUntil : everythingAt));
      const next = Math.min(everythingAt, ...noticedAt);
      const absentAt = there.size < roots.length ? rootsAt : next;
      return Math.max(0, Math.min(next, absentAt, active.size > 0 ? activeAt : next) - tick());
    },
  };
}

function isLink({ root, below }: Place): boolean {
  try {
    return lstatSync(join(root, below)).isSymbolicLink();
  } catch {
    // It is gone again.
    return false;
  }
}
