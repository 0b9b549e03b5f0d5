import { useState } from 'react';
import { createKept } from '../kit/kept.ts';
import type { ChangedFile } from './model/changed-files.ts';

const MAX_SESSIONS = 30;
const MAX_FILES = 500;

/** The files that a reader has viewed. */
const kept = createKept(
  'viewed',
  MAX_SESSIONS,
  (value): value is string[] => Array.isArray(value) && value.every((file) => typeof file === 'string'),
);

/** The number of edits is in the name, so that a file counts as not viewed after another edit. */
const nameOf = ({ path, edits }: ChangedFile) => `${edits.length} ${path}`;

export interface Viewed {
  has(file: ChangedFile): boolean;
  set(file: ChangedFile, isViewed: boolean): void;
}

export function useViewed(sessionId: string): Viewed {
  const [names, setNames] = useState(() => new Set(kept.read(sessionId)));
  return {
    has: (file) => names.has(nameOf(file)),
    set(file, isViewed) {
      const next = new Set(names);
      if (isViewed) next.add(nameOf(file));
      else next.delete(nameOf(file));
      setNames(next);
      kept.write(sessionId, [...next].slice(-MAX_FILES));
    },
  };
}
