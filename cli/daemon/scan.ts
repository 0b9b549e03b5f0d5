import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, transcriptAt } from '../read/discover.ts';
import type { Work } from '../read/reader.ts';
import type { Timing } from './limits.ts';
import type { Watch } from './watch.ts';

export interface ScanOptions {
  places: readonly Place[];
  /** Hook inboxes. Reading one adds to the agent's transcripts elsewhere. */
  inboxes?: readonly Place[];
  watch: Pick<Watch, 'add' | 'isComplete'>;
  /** A monotonic clock, in milliseconds. */
  tick: () => number;
  /** Milliseconds since 1970, on the file system's clock. */
  now: () => number;
  timing: Pick<Timing, 'absentMs'>;
}

/** A file to be read before the next full scan. */
interface Item {
  place: Place;
  /** Whether the system has reported a change. */
  isNoticed: boolean;
  /** The file is not read before this time, since reading it is expensive or has failed. */
  restUntil: number;
  /** How many times in a row it could not be read. */
  failures: number;
}

const ACTIVE_MS = 10 * 60_000;
const MAX_ACTIVE = 64;
/** Reading a file that changes all the time takes at most 3 % of a processor, and the related work another 2 %. */
const REST_TIMES = 30;
const MAX_REST_MS = 60_000;
/**
 * The wait after the first failure. It doubles with each further failure. A database that its agent has locked is retried
 * after a second.
 */
const FAILED_REST_MS = 250;

/**
 * How often all files, and the recently written ones, are checked. Checking an idle file takes 7 to 12 µs: 0.02 % of a
 * processor. This finds the changes that the system does not report. It takes 4 % at most.
 */
const PACE = {
  complete: { activeMs: 2000, allMs: 60_000, msAFile: 48 },
  incomplete: { activeMs: 500, allMs: 1500, msAFile: 0.3 },
};

/** Decides when to read which file. A notice from the system speeds this up; without notices, the scan finds the change. */
export function createScan({ places, inboxes = [], watch, tick, now, timing }: ScanOptions) {
  const roots = [...places, ...inboxes];
  const items = new Map<string, Item>();
  /** Files that changed lately, the latest last, each with the time until which it is checked often. */
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

  /** Notices roots that have appeared or reappeared. */
  function lookForRoots(): void {
    const before = there;
    there = new Set(roots.filter(({ root, below }) => existsSync(join(root, below))));
    for (const root of there) if (!before.has(root) && everythingAt > tick()) notice(root);
    rootsAt = tick() + timing.absentMs;
  }

  function forgetIdle(): void {
    for (const [item, until] of active) if (until <= tick()) active.delete(item);
    for (const [key, item] of items) {
      const isIdle = !item.isNoticed && !active.has(item) && item.restUntil <= tick() && item.failures === 0;
      if (isIdle) items.delete(key);
    }
  }

  /** Starts checking new and recently written files often. */
  function follow(sessions: Work['sessions']): void {
    for (const { agent, root, path, stored, modifiedAt } of sessions.flat()) {
      if (now() - modifiedAt < ACTIVE_MS) activate(ensure({ agent, root, below: stored?.file ?? path }));
    }
  }

  const isDue = ({ isNoticed, restUntil }: Item) => isNoticed && restUntil <= tick();
  const watched = (place: Place): Place => ({ ...place, onFolder: watch.add });

  return {
    /** Takes a report from the system that a place has changed. */
    notice,
    /** The files that may have changed and are to be read now. */
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
    /** When it is time for a full read: all places except those that rest. Otherwise none. */
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
    /** Takes the result of a full look: the files to read. */
    learn({ files, sessions }: Pick<Work, 'files' | 'sessions'>): void {
      schedule(files);
      follow(sessions);
    },
    follow,
    /** Whether a noticed file is due to be read. */
    isNoticed: (): boolean => items.values().some(isDue),
    /** Ignores new writes to a file for a while, because reading it took this long or failed. */
    leaveAlone(place: Place, costMs: number, hasFailed = false): void {
      const item = ensure(place);
      item.failures = hasFailed ? item.failures + 1 : 0;
      const failedMs = hasFailed ? FAILED_REST_MS * 2 ** item.failures : 0;
      item.restUntil = tick() + Math.min(MAX_REST_MS, Math.max(costMs * REST_TIMES, failedMs));
    },
    /** Makes a full read due at once, after a sleep or after an interrupted read. */
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
    // The folder is gone again.
    return false;
  }
}
