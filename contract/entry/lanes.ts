import type { Entries, Entry } from './entry.ts';

/** Puts entries into the lanes of sub-agents that their events do not name. */
export interface Lanes {
  /** Takes the entry that follows the ones before. */
  settle(entry: Entry): Entry;
}

/**
 * Up to 1.0, Claude Code wrote the records of sub-agents into the session's own file: a chain for each, which begins with
 * its prompt. Only these chains distinguish sub-agents that ran at the same time.
 */
export function createLanes(): Lanes {
  const lanes = new Map<string, string>();
  return {
    settle(entry) {
      if (!entry.chain || entry.lane !== undefined) return entry;
      const { record, parent, isSide } = entry.chain;
      const known = lanes.get(record) ?? (isSide ? (lanes.get(parent ?? '') ?? record) : undefined);
      if (known === undefined) return entry;
      lanes.set(record, known);
      return { ...entry, lane: known };
    },
  };
}

/** Which sub-agents have transcripts of their own: what other files repeat of those does not count. */
export function readOwnLanes(entries: Entries): Set<string> {
  const own = new Set<string>();
  for (const entry of entries) if (entry?.lane !== undefined && !entry.echo) own.add(entry.lane);
  return own;
}
