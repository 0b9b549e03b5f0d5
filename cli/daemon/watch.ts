import { existsSync, type FSWatcher, type WatchListener, watch } from 'node:fs';
import { join, sep } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { codeOf } from '../failure.ts';
import { type Place, transcriptAt } from '../read/discover.ts';

export interface WatchOptions {
  platform: string;
  /** Called with a changed transcript, or with another path that was added or removed. */
  onChange: (place: Place) => void;
  watchFolder?: WatchFolder;
}

export type WatchFolder = (path: string, recursive: boolean, onChange: WatchListener<string>) => FSWatcher;

export type Watch = ReturnType<typeof createWatch>;

/** A recursive watch also reports folders that contain no transcripts. */
const isEntered = ({ entersFolder }: Agent, path: string): boolean =>
  entersFolder === undefined ||
  path.split('/').every((_, index, parts) => entersFolder(parts.slice(0, index + 1).join('/')));

/** There is one watch per folder. This is far below the limits of systems, and enough for years of sessions. */
const MAX_WATCHES = 4000;

const watchByName: WatchFolder = (path, recursive, onChange) => watch(path, { recursive, persistent: false }, onChange);

/** Reports the changes that the system notices. The system misses some, and some systems report none. The scan finds those. */
export function createWatch({ platform, onChange, watchFolder = watchByName }: WatchOptions) {
  // Linux has no recursive watches. Node would imitate them with a watch for each single file.
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
    /** Watches a folder. `identity` distinguishes it from a folder that later took its place. */
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
        // The system is out of watches or has none. A folder that is gone or not readable does not count.
        if (!['ENOENT', 'EACCES'].includes(codeOf(error) ?? '')) isComplete = false;
      }
    },
    /** Whether the system reports all changes, as far as this process knows. */
    isComplete: () => isComplete,
    close(): void {
      for (const { watcher } of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

const keyOf = ({ agent, root, below }: Place) => `${agent.id}\0${root}\0${below}`;
