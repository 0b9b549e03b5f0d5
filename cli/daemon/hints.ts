import { existsSync, type FSWatcher, watch } from 'node:fs';
import { sep } from 'node:path';
import { type Place, transcriptAt } from '../read/discover.ts';

/**
 * Which files the system says have changed. It forgets some, and some systems say nothing at all: a hint makes reading
 * quick, looking everywhere now and then makes it sure.
 */
export function createHints(places: readonly Place[], onHint: () => void) {
  const watchers = new Map<string, FSWatcher>();
  let changed = new Map<string, Place>();

  function watchPlace(place: Place): void {
    if (watchers.has(place.root) || !existsSync(place.root)) return;
    try {
      const watcher = watch(place.root, { recursive: true, persistent: false }, (_, name) => {
        const below = name === null ? undefined : transcriptAt(place.agent, name.split(sep).join('/'));
        if (below === undefined) return;
        changed.set(`${place.root} ${below}`, { ...place, below });
        onHint();
      });
      watcher.on('error', () => forget(place.root));
      watchers.set(place.root, watcher);
    } catch {
      // Out of watches, or a system that has none: then there are no hints.
    }
  }

  function forget(root: string): void {
    watchers.get(root)?.close();
    watchers.delete(root);
  }

  return {
    /** Also watches folders that have come into being. */
    refresh(): void {
      for (const place of places) watchPlace(place);
    },
    isPending: () => changed.size > 0,
    take(): Place[] {
      const taken = [...changed.values()];
      changed = new Map();
      return taken;
    },
    close(): void {
      for (const root of [...watchers.keys()]) forget(root);
    },
  };
}
