import type { Entries, Entry } from './entry.ts';

/** Assigns entries to the lanes of sub-agents that their events do not name. */
export interface Lanes {
  /** Takes the next entry, in order. */
  settle(entry: Entry): Entry;
}

/**
 * Up to 1.0, Claude Code wrote the records of sub-agents into the session's own file. Each sub-agent has a chain of records
 * that begins with its prompt. Only these chains distinguish sub-agents that ran at the same time.
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

/** The sub-agents with their own transcripts. Copies of their messages in other files do not count. */
export function readOwnLanes(entries: Entries): Set<string> {
  const own = new Set<string>();
  for (const entry of entries) if (entry?.lane !== undefined && !entry.echo) own.add(entry.lane);
  return own;
}
