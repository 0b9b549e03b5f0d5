import { type FSWatcher, type WatchListener, watch } from 'node:fs';
import { join, sep } from 'node:path';
import { type Place, transcriptAt } from '../read/discover.ts';

export interface HintOptions {
  platform: string;
  /** Called at every hint. */
  onHint: () => void;
  watchFolder?: WatchFolder;
}

export type WatchFolder = (path: string, recursive: boolean, onChange: WatchListener<string>) => FSWatcher;

export type Hints = ReturnType<typeof createHints>;

/** A folder as it was looked at. `identity` tells it from another one that took its place. */
export interface Folder {
  place: Place;
  identity: string;
}

/** A watch a folder: far below what systems allow, and enough for years of sessions. */
const MAX_WATCHES = 4000;

const watchByName: WatchFolder = (path, recursive, onChange) => watch(path, { recursive, persistent: false }, onChange);

/**
 * Which files and folders the system says have changed. It forgets some, and some systems say nothing at all: a hint makes
 * reading quick, looking now and then makes it sure.
 */
export function createHints({ platform, onHint, watchFolder = watchByName }: HintOptions) {
  // Linux has no recursive watches; Node would imitate them with a watch for each single file.
  const isRecursive = platform === 'darwin' || platform === 'win32';
  const watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  const unwatched = new Set<string>();
  let changed = new Map<string, Place>();

  function note(place: Place, below: string): void {
    const changedPlace = { ...place, below };
    changed.set(keyOf(changedPlace), changedPlace);
    onHint();
  }

  function open({ place, identity }: Folder): void {
    const path = join(place.root, place.below);
    const watcher = watchFolder(path, isRecursive, (event, name) => {
      if (name === null) return note(place, place.below);
      const parts = [...(place.below === '' ? [] : [place.below]), ...name.split(sep)];
      const transcript = transcriptAt(place.agent, parts.join('/'));
      if (transcript !== undefined) note(place, transcript);
      // A name that came or went may be that of a folder with transcripts.
      else if (event === 'rename') note(place, parts.slice(0, -1).join('/'));
    });
    // When its folder is removed, too: what takes its place is another folder.
    watcher.on('error', () => close(keyOf(place)));
    watchers.set(keyOf(place), { watcher, identity });
  }

  function close(key: string): void {
    watchers.get(key)?.watcher.close();
    watchers.delete(key);
  }

  return {
    /** Watches these folders of a place, and no longer those that are gone. */
    watch({ root }: Place, folders: readonly Folder[]): void {
      const wanted = isRecursive ? folders.filter(({ place }) => place.below === '') : folders;
      const keys = new Set(wanted.map(({ place }) => keyOf(place)));
      for (const key of [...watchers.keys()]) if (key.startsWith(`${root}\0`) && !keys.has(key)) close(key);
      unwatched.delete(root);
      for (const folder of wanted) {
        const key = keyOf(folder.place);
        if (watchers.get(key)?.identity === folder.identity) continue;
        close(key);
        try {
          if (watchers.size >= MAX_WATCHES) throw new Error('enough');
          open(folder);
        } catch {
          // Out of watches, or a system that has none: then looking must do.
          unwatched.add(root);
        }
      }
    },
    /** Whether the system tells of all changes below a root. */
    isWatched: ({ root }: Place): boolean => !unwatched.has(root),
    isPending: () => changed.size > 0,
    take(): Place[] {
      const taken = [...changed.values()];
      changed = new Map();
      return taken;
    },
    close(): void {
      for (const key of [...watchers.keys()]) close(key);
    },
  };
}

const keyOf = ({ root, below }: Place) => `${root}\0${below}`;
