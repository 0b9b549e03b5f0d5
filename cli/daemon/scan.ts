import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Found, findTranscripts, type Place, stampOf, transcriptAt } from '../read/discover.ts';
import type { Watch } from './watch.ts';

export interface ScanOptions {
  places: readonly Place[];
  /** Folders of which the reader, when it is asked for them, makes transcripts in the agent's other places. */
  inboxes?: readonly Place[];
  watch: Pick<Watch, 'add' | 'remove' | 'isWatched'>;
  /** Milliseconds of a clock that is never set. */
  tick: () => number;
  /** Milliseconds that the processor has worked for this process: on a busy machine looking takes longer, and costs the same. */
  cpu: () => number;
  /** Milliseconds since 1970, as the file system counts. */
  now: () => number;
}

/** A file or folder, and when it is looked at next. */
interface Item {
  place: Place;
  isFolder: boolean;
  /** What tells whether it has changed; undefined where it was not seen yet, or is gone. */
  stamp: string | undefined;
  nextAt: number;
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
/** File systems count time in steps: what was changed this lately may be changed again without another time. */
const BLUR_MS = 2000;
/** The reader is asked for everything this often: for what an unchanged file does not tell, such as that it may be read now. */
const EVERYTHING_MS = 10 * 60_000;
const EVERYTHING_MS_A_FILE = 60;

/**
 * How often to look. At rest the pause is so many times what looking took, doubled from the shortest pause on: 5,000 files
 * take 15 ms, 0.03 % of a processor. Where the system tells of no changes, looking is all there is.
 */
const PACE = {
  watched: { activeMs: 2000, restMs: 60_000, times: 1500, maxMs: 16 * 60_000 },
  unwatched: { activeMs: 500, restMs: 2000, times: 200, maxMs: 64_000 },
};

/** Every file and folder of the places, and when to look at it: a notice makes that sooner, and without any it is found as well. */
export function createScan({ places, inboxes = [], watch, tick, cpu, now }: ScanOptions) {
  const items = new Map<string, Item>();
  /** Those that changed lately, and until when they are looked at often for it. */
  const active = new Map<Item, number>();
  /** The system says that they have changed. */
  const noticed = new Set<Item>();
  /** Folders by what tells them apart: one that a link leads to may be known by another name. */
  const entered = new Map<string, Item>();
  const roots = new Set([...places, ...inboxes].map((place) => ensure(place, true)));
  let everythingAt = 0;

  function ensure(place: Place, isFolder: boolean): Item {
    const { agent, root, below } = place;
    const known = items.get(keyOf(place));
    if (known) return known;
    const item = { place: { agent, root, below }, isFolder, stamp: undefined, nextAt: 0, restUntil: 0, failures: 0 };
    items.set(keyOf(place), item);
    return item;
  }

  function forget(item: Item): void {
    if (item.isFolder) watch.remove(item.place);
    item.stamp = undefined;
    if (roots.has(item)) return;
    items.delete(keyOf(item.place));
    for (const some of [active, noticed]) some.delete(item);
  }

  function activate(item: Item): void {
    active.delete(item);
    active.set(item, tick() + ACTIVE_MS);
    const [oldest] = active.keys();
    if (active.size > MAX_ACTIVE && oldest !== undefined) active.delete(oldest);
  }

  /** Times on a common grid, so that the process wakes up once for many. */
  function schedule(item: Item, costMs: number): void {
    if ((active.get(item) ?? 0) <= tick()) active.delete(item);
    const { activeMs, restMs, times, maxMs } = PACE[watch.isWatched(item.place) ? 'watched' : 'unwatched'];
    const doublings = Math.ceil(Math.log2(Math.max(1, (costMs * times) / restMs)));
    const paceMs = roots.has(item) && item.stamp === undefined ? ABSENT_MS : Math.min(maxMs, restMs * 2 ** doublings);
    const pause = active.has(item) ? activeMs : paceMs;
    item.nextAt = Math.max(item.restUntil, (Math.floor(tick() / pause) + 1) * pause);
    noticed.delete(item);
  }

  function rest(item: Item, costMs: number): void {
    const failedMs = item.failures > 0 ? FAILED_REST_MS * 2 ** item.failures : 0;
    item.restUntil = tick() + Math.min(MAX_REST_MS, Math.max(costMs * REST_TIMES, failedMs));
    item.nextAt = Math.max(item.nextAt, item.restUntil);
  }

  /** A folder is watched before it is listed: what comes in between is told of. */
  function enter(place: Place): void {
    const item = ensure(place, true);
    const stat = statOf(place);
    if (stat === undefined) return;
    watch.add(item.place, identityOf(stat));
    entered.set(`${place.agent.id} ${identityOf(stat)}`, item);
    item.stamp = Math.abs(now() - stat.mtimeMs) < BLUR_MS ? 'blurred' : stampOfFolder(stat);
    schedule(item, 0);
  }

  /** Whether a folder that is found in another one is to be looked into. */
  function isNew(place: Place): boolean {
    const { agent, below } = place;
    if (items.get(keyOf(place))?.stamp !== undefined || agent.entersFolder?.(below) === false) return false;
    if (agent.isTranscript(below)) return true;
    const stat = statOf(place);
    const same = stat && entered.get(`${agent.id} ${identityOf(stat)}`);
    return same?.stamp === undefined || items.get(keyOf(same.place)) !== same;
  }

  /** The transcripts of a folder that has changed: those in it, and those in folders that are new. */
  function lookIntoFolder(item: Item): Found[] | undefined {
    const stat = statOf(item.place);
    if (stat?.isDirectory() !== true) {
      forget(item);
      return undefined;
    }
    if (!noticed.has(item) && item.stamp === stampOfFolder(stat)) return undefined;
    const { agent } = item.place;
    const started = cpu();
    const entersFolder = (path: string) => isNew({ ...item.place, below: path });
    const onFolder = (folder: Place) => enter({ ...folder, agent });
    const found = findTranscripts([{ ...item.place, agent: { ...agent, entersFolder }, onFolder }], ignore);
    rest(item, cpu() - started);
    return found.map((file) => ({ ...file, agent }));
  }

  /** At rest this is all there is to looking at a file. */
  function mayHaveChanged(item: Item): boolean {
    if (noticed.has(item) || active.has(item)) return true;
    const stat = statOf(item.place);
    return stat === undefined || stampOf({ size: stat.size, modifiedAt: stat.mtimeMs }) !== item.stamp;
  }

  /** Looks at these; returns what is to be read. */
  function look(due: readonly Item[]): Place[] {
    const started = cpu();
    const files = due.filter((item) => !item.isFolder && mayHaveChanged(item));
    const at = files.map(({ place }) => place);
    const found = findTranscripts(at, ignore);
    const isThere = new Set(found.map(({ agent, root, path }) => keyOf({ agent, root, below: path })));
    for (const item of files) if (!isThere.has(keyOf(item.place))) forget(item);
    const changed: Place[] = [];
    const filled: Place[] = [];
    for (const folder of due.filter(({ isFolder }) => isFolder)) {
      const inside = lookIntoFolder(folder);
      if (inside && inboxes.some(({ root }) => root === folder.place.root)) filled.push(folder.place);
      found.push(...(inside ?? []));
    }
    const looked = new Set(due);
    for (const file of found) {
      const item = ensure({ agent: file.agent, root: file.root, below: file.path }, false);
      looked.add(item);
      if (takeIn(item, file)) changed.push(item.place);
    }
    for (const item of looked) schedule(item, cpu() - started);
    for (const { agent, root } of filled)
      for (const other of roots) if (other.place.agent === agent && other.place.root !== root) notice(other);
    return [...changed, ...filled];
  }

  /** Whether it is to be read. */
  function takeIn(item: Item, file: Found): boolean {
    if (item.restUntil > tick()) return false;
    const stamp = stampOf(file);
    const before = item.stamp;
    item.stamp = stamp;
    const isFresh = before !== undefined || now() - file.modifiedAt < ACTIVE_MS;
    if (isFresh && before !== stamp) activate(item);
    return before !== stamp || noticed.has(item) || (active.get(item) ?? 0) > tick();
  }

  function notice(item: Item): void {
    noticed.add(item);
    item.nextAt = Math.min(item.nextAt, Math.max(tick(), item.restUntil));
  }

  const isDue = (item: Item) => item.nextAt <= tick();

  return {
    /** The system says that this has changed. */
    notice(place: Place): void {
      const { agent, below } = place;
      const isFolder = transcriptAt(agent, below) === undefined;
      // Where one watch is for all folders below, it also tells of those that hold something else.
      if (isFolder && below !== '' && agent.entersFolder?.(below) === false) return;
      notice(ensure(place, isFolder));
    },
    /** What may have changed, and is to be read now. */
    take(): Place[] {
      const isCatchingUp = everythingAt <= tick();
      const due = [...items.values()].filter((item) => isDue(item) && (noticed.has(item) || !isCatchingUp));
      return look(due);
    },
    /** All places, where it is time to have everything read that is new in them; else none. */
    takeEverything(): readonly Place[] {
      if (everythingAt > tick()) return [];
      look([...items.values()].filter(isDue));
      everythingAt = tick() + Math.max(EVERYTHING_MS, items.size * EVERYTHING_MS_A_FILE);
      return places;
    },
    /** Whether something that was noticed waits to be read. */
    isNoticed: (): boolean => noticed.values().some(isDue),
    /** Reading it took this long, or failed: it is left alone for a while, whatever is written to it. */
    rest(place: Place, costMs: number, hasFailed = false): void {
      const item = ensure(place, false);
      item.failures = hasFailed ? item.failures + 1 : 0;
      rest(item, costMs);
    },
    /** Everything is to be read at once: after a sleep, or when something got in between. */
    expire(): void {
      everythingAt = 0;
    },
    /** Milliseconds until the next look. */
    pauseMs(): number {
      const next = items.values().reduce((least, { nextAt }) => Math.min(least, nextAt), everythingAt);
      return Math.max(0, next - tick());
    },
  };
}

const keyOf = ({ agent, root, below }: Place) => `${agent.id}\0${root}\0${below}`;
const identityOf = ({ dev, ino, birthtimeMs }: Stats) => `${dev} ${ino} ${birthtimeMs}`;
const stampOfFolder = ({ dev, ino, mtimeMs }: Stats) => `${dev} ${ino} ${mtimeMs}`;

/** The reader tells of what cannot be read. */
const ignore = () => {};

function statOf({ root, below }: Place): Stats | undefined {
  try {
    return statSync(join(root, below), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
