import { existsSync, type FSWatcher, type WatchListener, watch } from 'node:fs';
import { join, sep } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { codeOf } from '../failure.ts';
import { type Place, transcriptAt } from '../read/discover.ts';

export interface WatchOptions {
  platform: string;
  /** Called with a transcript that changed, or with something else that came or went. */
  onChange: (place: Place) => void;
  watchFolder?: WatchFolder;
}

export type WatchFolder = (path: string, recursive: boolean, onChange: WatchListener<string>) => FSWatcher;

export type Watch = ReturnType<typeof createWatch>;

/** Where one watch is for all folders below, it also tells of those that hold something else. */
const isEntered = ({ entersFolder }: Agent, path: string): boolean =>
  entersFolder === undefined ||
  path.split('/').every((_, index, parts) => entersFolder(parts.slice(0, index + 1).join('/')));

/** A watch a folder: far below what systems allow, and enough for years of sessions. */
const MAX_WATCHES = 4000;

const watchByName: WatchFolder = (path, recursive, onChange) => watch(path, { recursive, persistent: false }, onChange);

/** What the system says has changed. It forgets some, and some systems say nothing: then the scan finds it. */
export function createWatch({ platform, onChange, watchFolder = watchByName }: WatchOptions) {
  // Linux has no recursive watches; Node would imitate them with a watch for each single file.
  const isRecursive = platform === 'darwin' || platform === 'win32';
  const watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  let isComplete = true;

  function tell(place: Place, event: string, name: string | null): void {
    if (name === null) return void onChange(place);
    const { agent, root } = place;
    if (event === 'rename' && !existsSync(join(root, place.below))) remove(place);
    const below = [...(place.below === '' ? [] : [place.below]), ...name.split(sep)].join('/');
    const transcript = transcriptAt(agent, below);
    if (transcript !== undefined) onChange({ ...place, below: transcript });
    // A new name may be a folder with transcripts.
    else if (event === 'rename' && isEntered(agent, below)) onChange({ ...place, below });
  }

  function remove(place: Place): void {
    watchers.get(keyOf(place))?.watcher.close();
    watchers.delete(keyOf(place));
  }

  return {
    /** Watches a folder; `identity` tells it from one that took its place. */
    add(place: Place, identity: string): void {
      const key = keyOf(place);
      if ((isRecursive && place.below !== '') || watchers.get(key)?.identity === identity) return;
      remove(place);
      try {
        if (watchers.size >= MAX_WATCHES) throw new Error('enough');
        const path = join(place.root, place.below);
        const watcher = watchFolder(path, isRecursive, (event, name) => tell(place, event, name));
        watcher.on('error', () => remove(place));
        watchers.set(key, { watcher, identity });
      } catch (error) {
        // Out of watches, or a system that has none; not where a folder is gone again, or cannot be read either.
        if (!['ENOENT', 'EACCES'].includes(codeOf(error) ?? '')) isComplete = false;
      }
    },
    /** Whether the system tells of all changes, as far as is known. */
    isComplete: () => isComplete,
    close(): void {
      for (const { watcher } of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

const keyOf = ({ agent, root, below }: Place) => `${agent.id}\0${root}\0${below}`;
