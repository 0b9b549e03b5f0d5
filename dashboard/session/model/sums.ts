import { childrenOf, type Item, isFailure } from './items.ts';

export interface Sums {
  calls: number;
  failures: number;
  /** From the start of the first item to the end of the last one, in milliseconds. */
  durationMs: number;
  /** The start of the first item; 0 without items. */
  first: number;
  /** The end of the last item; 0 without items. */
  last: number;
  added: number;
  removed: number;
  files: ReadonlySet<string>;
}

/** Sums up a stretch of the timeline, including sub-agents. */
export function sumUp(items: Iterable<Item>): Sums {
  const files = new Set<string>();
  const sums = { calls: 0, failures: 0, added: 0, removed: 0, last: 0 };
  let first = Number.POSITIVE_INFINITY;
  const visit = (item: Item) => {
    if (isFailure(item)) sums.failures++;
    if (item.kind === 'tool') {
      // A result without its call is shown, but does not count as a call.
      if (item.call) sums.calls++;
      for (const { path, added, removed } of item.changes) {
        files.add(path);
        sums.added += added;
        sums.removed += removed;
      }
    }
    // The times of a sub-agent follow from its items, and an idle line has no time of its own.
    if (item.kind !== 'idle' && (item.kind !== 'lane' || item.items.length === 0)) {
      if (item.time > 0) first = Math.min(first, item.time);
      sums.last = Math.max(sums.last, endOf(item));
    }
    if (item.kind !== 'quiet') for (const child of childrenOf(item)) visit(child);
  };
  for (const item of items) visit(item);
  const isTimed = sums.last >= first;
  return { ...sums, files, durationMs: isTimed ? sums.last - first : 0, first: isTimed ? first : 0 };
}

function endOf(item: Item): number {
  let end = item.time;
  if (item.kind === 'tool') for (const { time } of item.results) end = Math.max(end, time);
  return end;
}
