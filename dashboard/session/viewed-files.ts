import { useState } from 'react';
import { readLocal, writeLocal } from '../kit/local-storage.ts';
import type { ChangedFile } from './model/changed-files.ts';

/** The files that a reader has viewed, stored in the browser for the sessions read last. */
const NAME = 'viewed';
const MOST_SESSIONS = 30;
const MOST_FILES = 500;

type Kept = [sessionId: string, files: string[]];

const isKept = (value: unknown): value is Kept =>
  Array.isArray(value) &&
  typeof value[0] === 'string' &&
  Array.isArray(value[1]) &&
  value[1].every((file) => typeof file === 'string');

function readAll(): Kept[] {
  const kept = readLocal(NAME);
  return Array.isArray(kept) ? kept.filter(isKept) : [];
}

/** The number of edits is in the name, so that a file counts as not viewed after another edit. */
const nameOf = ({ path, edits }: ChangedFile) => `${edits.length} ${path}`;

export interface Viewed {
  has(file: ChangedFile): boolean;
  set(file: ChangedFile, isViewed: boolean): void;
}

export function useViewed(sessionId: string): Viewed {
  const [names, setNames] = useState(() => new Set(readAll().find(([id]) => id === sessionId)?.[1]));
  return {
    has: (file) => names.has(nameOf(file)),
    set(file, isViewed) {
      const next = new Set(names);
      if (isViewed) next.add(nameOf(file));
      else next.delete(nameOf(file));
      setNames(next);
      const others = readAll().filter(([id]) => id !== sessionId);
      writeLocal(NAME, [[sessionId, [...next].slice(-MOST_FILES)], ...others].slice(0, MOST_SESSIONS));
    },
  };
}
