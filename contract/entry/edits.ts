import type { FileStat } from './changes.ts';
import type { ResultEntry } from './entry.ts';

/** What a call changed, as far as is known. */
export interface Edits {
  changes: readonly FileStat[];
  /** Whether results told the changes. Otherwise they are what the call set out to do. */
  isTold: boolean;
}

/**
 * What a call changed, after one more of its results. A result is truer than the call, so an edit that stands in both
 * counts once. Several results may each tell of another change. An edit that was refused changed nothing.
 */
export function editsAfter(edits: Edits, { changes, failed }: Pick<ResultEntry, 'changes' | 'failed'>): Edits {
  if (failed) return edits.isTold ? edits : { changes: [], isTold: false };
  if (changes.length === 0) return edits;
  return { changes: edits.isTold ? [...edits.changes, ...changes] : changes, isTold: true };
}
