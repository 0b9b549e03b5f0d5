import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Found, type Place, stampOf, transcriptAt } from '../read/discover.ts';
import type { Folder, Hints } from './hints.ts';
import { type LookKind, pauseAfter } from './schedule.ts';

export interface LookOptions {
  places: readonly Place[];
  hints: Hints;
  /** Milliseconds of a clock that is never set. */
  tick: () => number;
  /** Milliseconds since 1970, as the file system counts. */
  now: () => number;
}

export type Looks = ReturnType<typeof createLooks>;

/** A session is looked at more often for this long after it changed. */
const ACTIVE_MS = 10 * 60_000;
const MAX_ACTIVE = 64;
/** Hooks may leave notes many times a second: looking for them takes at most a twentieth of a processor. */
const REST_TIMES = 20;
/** What is nearly due is looked at along with what is due: waking up costs more than looking. */
const SOON_SHARE = 0.7;
/** An agent that runs for the first time makes its folder then; looking for it costs next to nothing. */
const ABSENT_MS = 2000;
/** File systems count time in steps: what was changed this lately may be changed again without another time. */
const BLUR_MS = 2000;

const AT_ONCE: Record<LookKind, number> = { active: 0, folders: 0, everything: 0 };

interface Root {
  place: Place;
  /** By path below the root, with the time of their last change. */
  folders: Map<string, Folder & { modifiedAt: number }>;
  due: Record<LookKind, number>;
  /** From when on it is looked at if something else is. */
  soon: Record<LookKind, number>;
  /** From when on a hook's note may have everything looked at again. */
  restedAt: number;
}

interface Active {
  place: Place;
  stamp: string;
  until: number;
}

/** When to look where, so that every change is found although the system may tell of none. */
export function createLooks({ places, hints, tick, now }: LookOptions) {
  const roots: Root[] = places.map((place) => ({
    place,
    folders: new Map(),
    due: { ...AT_ONCE },
    soon: { ...AT_ONCE },
    restedAt: 0,
  }));
  const active = new Map<string, Active>();

  function schedule(root: Root, kind: LookKind, costMs: number): void {
    const isAbsent = kind === 'folders' && root.folders.size === 0;
    const pauseMs = isAbsent ? ABSENT_MS : pauseAfter(kind, costMs, hints.isWatched(root.place));
    root.due[kind] = tick() + pauseMs;
    root.soon[kind] = tick() + pauseMs * SOON_SHARE;
  }

  /** Runs a look of a kind at each root where it is due. */
  function look(kind: LookKind, of: (root: Root) => void): void {
    for (const root of roots) {
      if (root.soon[kind] > tick()) continue;
      const started = tick();
      of(root);
      schedule(root, kind, tick() - started);
    }
  }

  /** What is new in a folder that has changed: folders as a whole, and its files. */
  function listFolder({ place, folders }: Root, below: string): Place[] {
    const at = (name: string) => (below === '' ? name : `${below}/${name}`);
    try {
      return readdirSync(join(place.root, below), { withFileTypes: true }).flatMap((entry) => {
        const path = at(entry.name);
        const isNew = () => !folders.has(path) && (place.agent.entersFolder?.(path) ?? true);
        const isNews = entry.isDirectory() ? isNew() : transcriptAt(place.agent, path) !== undefined;
        return isNews ? [{ ...place, below: transcriptAt(place.agent, path) ?? path }] : [];
      });
    } catch {
      // Gone again, or closed to this user, which the look at everything tells of.
      return [];
    }
  }

  function lookAtFolders(root: Root): Place[] {
    if (root.folders.size === 0) {
      // Else the look at everything finds it.
      const isExpected = root.due.everything > tick();
      return isExpected && isFolder(root.place.root) ? [root.place] : [];
    }
    const news: Place[] = [];
    let isChanged = false;
    for (const [below, folder] of root.folders) {
      const stat = statOf(join(root.place.root, below));
      if (stat !== undefined && folder.modifiedAt === stat.mtimeMs && folder.identity === identityOf(stat)) continue;
      isChanged = true;
      if (stat === undefined) root.folders.delete(below);
      else {
        remember(root, folder.place, stat);
        news.push(...listFolder(root, below));
      }
    }
    if (isChanged) hints.watch(root.place, [...root.folders.values()]);
    return news;
  }

  function remember(root: Root, place: Place, stat: Stats): void {
    const isBlurred = Math.abs(now() - stat.mtimeMs) < BLUR_MS;
    const modifiedAt = isBlurred ? Number.NaN : stat.mtimeMs;
    root.folders.set(place.below, { place, identity: identityOf(stat), modifiedAt });
  }

  function activeIn({ place }: Root): Place[] {
    const here = [...active].filter(([, { place: at }]) => at.root === place.root && at.agent === place.agent);
    for (const [key, { until }] of here) if (until < tick()) active.delete(key);
    return here.map(([, { place: at }]) => at);
  }

  const rootOf = (at: Place) => roots.find(({ place }) => place.root === at.root && place.agent === at.agent);

  function meet(folders: readonly Place[]): void {
    const touched = new Set<Root>();
    for (const folder of folders) {
      const root = rootOf(folder);
      const stat = statOf(join(folder.root, folder.below));
      if (root === undefined || stat === undefined) continue;
      remember(root, folder, stat);
      touched.add(root);
    }
    for (const root of touched) hints.watch(root.place, [...root.folders.values()]);
  }

  return {
    /** What is to be read now because it may have changed, but for a look at everything. */
    takeDue(): Place[] {
      const due: Place[] = [];
      look('folders', (root) => due.push(...lookAtFolders(root)));
      look('active', (root) => due.push(...activeIn(root)));
      return due;
    },
    /** Where a look at everything is due: an agent's places together, since a session may continue in another of them. */
    placesDue(): Place[] {
      if (roots.every(({ due }) => due.everything > tick())) return [];
      const agents = new Set(roots.filter(({ soon }) => soon.everything <= tick()).map(({ place }) => place.agent));
      return places.filter(({ agent }) => agents.has(agent));
    },
    /** Everything at these places was looked at, which took so long; `folders` are those that were met. */
    lookedAt(lookedAt: readonly Place[], folders: readonly Place[], costMs: number): void {
      const looked = roots.filter(({ place }) => lookedAt.includes(place));
      for (const root of looked) root.folders.clear();
      meet(folders);
      for (const root of looked) {
        schedule(root, 'everything', costMs);
        root.restedAt = tick() + costMs * REST_TIMES;
      }
    },
    /** Folders that were met on the way. */
    met: meet,
    /** Hints name files and folders; of a folder, what is new in it. */
    expand: (hinted: readonly Place[]): Place[] =>
      hinted.flatMap((hint) => {
        if (transcriptAt(hint.agent, hint.below) !== undefined) return [hint];
        const root = rootOf(hint);
        return root === undefined ? [] : listFolder(root, hint.below);
      }),
    /** A file that has grown is looked at often for a while. One that only looks unread does not count as growing. */
    keepActive(found: Found, file: string): void {
      const key = `${found.root}\0${file}`;
      const stamp = stampOf(found);
      if (active.get(key)?.stamp === stamp) return;
      active.delete(key);
      active.set(key, {
        place: { agent: found.agent, root: found.root, below: file },
        stamp,
        until: tick() + ACTIVE_MS,
      });
      const [oldest] = active.keys();
      if (active.size > MAX_ACTIVE && oldest !== undefined) active.delete(oldest);
    },
    /** Everything is due at once: after a sleep, or when something got in between. */
    expire(): void {
      for (const root of roots) {
        root.due = { ...AT_ONCE };
        root.soon = { ...AT_ONCE };
      }
    },
    /** Something happened to an agent's session, wherever it lies. */
    expireAgent(agent: string): void {
      for (const root of roots.filter(({ place }) => place.agent.id === agent)) {
        const everything = Math.min(root.due.everything, root.restedAt);
        root.due = { ...AT_ONCE, everything };
        root.soon = { ...AT_ONCE, everything };
      }
    },
    /** Milliseconds until the next look. */
    pauseMs(): number {
      const dues = roots.flatMap(({ due }) => [due.folders, due.everything, ...(active.size > 0 ? [due.active] : [])]);
      return Math.max(0, Math.min(...dues) - tick());
    },
  };
}

const isFolder = (path: string) => statOf(path)?.isDirectory() === true;
const identityOf = ({ dev, ino }: Stats) => `${dev} ${ino}`;

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
