import { type FSWatcher, mkdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Where hooks leave their notes: an empty file by the agent's id, touched whenever something happened. */
export const notesPath = (folder: string): string => join(folder, 'notes');

/** A note is found this soon without the system's help. */
const LOOK_MS = 15_000;
const UNWATCHED_MS = 1000;

export interface NotesOptions {
  folder: string;
  /** Ids of the agents that leave notes: what else is there costs nothing, however much it is. */
  agents: ReadonlySet<string>;
  /** Milliseconds of a clock that is never set. */
  tick: () => number;
  onNote: () => void;
}

export type Notes = ReturnType<typeof createNotes>;

/** Which agents have left a note since it was asked last. */
export function createNotes({ folder, agents, tick, onNote }: NotesOptions) {
  const path = notesPath(folder);
  const stamps = new Map<string, number>();
  const noted = new Set<string>();
  let watcher: FSWatcher | undefined;
  let due = 0;

  function open(): void {
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      watcher = watch(path, { persistent: false }, (_, name) => {
        if (name === null) due = 0;
        else if (agents.has(name)) noted.add(name);
        else return;
        onNote();
      });
      watcher.on('error', close);
    } catch {
      close();
    }
  }

  function close(): void {
    watcher?.close();
    watcher = undefined;
  }

  function look(): void {
    if (watcher === undefined) open();
    due = tick() + (watcher === undefined ? UNWATCHED_MS : LOOK_MS);
    try {
      if (!statSync(path).isDirectory()) throw new Error('no folder');
      for (const name of agents) {
        const modifiedAt = statSync(join(path, name), { throwIfNoEntry: false })?.mtimeMs;
        if (modifiedAt === undefined) continue;
        if (stamps.get(name) !== modifiedAt) noted.add(name);
        stamps.set(name, modifiedAt);
      }
    } catch {
      // The folder is gone: it is made and watched anew.
      close();
    }
  }

  return {
    take(): string[] {
      if (tick() >= due) look();
      const taken = [...noted];
      noted.clear();
      return taken;
    },
    isPending: () => noted.size > 0,
    pauseMs: () => Math.max(0, due - tick()),
    close,
  };
}
