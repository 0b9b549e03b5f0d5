/** How often to look: so that looking costs no more than a share of the processor, within bounds. */
interface Pace {
  /** Pause by cost: 1,000 is 0.1 % of one processor. */
  times: number;
  minMs: number;
  maxMs: number;
}

/** Where the system tells of changes, looking is only for what it forgot. */
const WATCHED: Record<LookKind, Pace> = {
  active: { times: 500, minMs: 2000, maxMs: 10_000 },
  folders: { times: 5000, minMs: 20_000, maxMs: 60_000 },
  everything: { times: 5000, minMs: 120_000, maxMs: 600_000 },
};

/** Where it tells of none, looking is all there is. */
const UNWATCHED: Record<LookKind, Pace> = {
  active: { times: 100, minMs: 500, maxMs: 5000 },
  folders: { times: 100, minMs: 1000, maxMs: 10_000 },
  everything: { times: 200, minMs: 2000, maxMs: 60_000 },
};

/**
 * What may be looked at: files that changed lately; folders, whose time tells of files that came; every file.
 */
export type LookKind = 'active' | 'folders' | 'everything';

/** Milliseconds until the next look of a kind, given what the last one took. */
export function pauseAfter(kind: LookKind, costMs: number, isWatched: boolean): number {
  const { times, minMs, maxMs } = (isWatched ? WATCHED : UNWATCHED)[kind];
  return Math.min(maxMs, Math.max(minMs, costMs * times));
}
