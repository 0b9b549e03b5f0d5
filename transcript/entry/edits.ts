import type { FileStat } from './changes.ts';
import type { ResultEntry } from './entry.ts';

/** The known changes of a call. */
export interface Edits {
  changes: readonly FileStat[];
  /** Whether the changes are from results; otherwise they are the intended changes of the call. */
  isTold: boolean;
}

/**
 * Adds a result to the changes of a call. A result replaces the intended changes, so that an edit in both counts once. Each of
 * several results may report another change. A refused edit changed nothing.
 */
export function editsAfter(edits: Edits, { changes, failed }: Pick<ResultEntry, 'changes' | 'failed'>): Edits {
  if (failed) return edits.isTold ? edits : { changes: [], isTold: false };
  if (changes.length === 0) return edits;
  return { changes: edits.isTold ? [...edits.changes, ...changes] : changes, isTold: true };
}
