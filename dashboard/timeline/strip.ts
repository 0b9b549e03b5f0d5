import type { Entries, Entry } from '../../contract/entry/entry.ts';
import { orderOf, readRevisions } from '../../contract/entry/revisions.ts';
import { IDLE_MS } from './lane.ts';

/** A slice of the session's time. */
export interface Bin {
  /** Events in it. */
  count: number;
  /** The first event of each kind of mark, and of any kind. */
  first?: number;
  prompt?: number;
  edit?: number;
  error?: number;
  /** Nothing happened for long just before it. */
  idle?: boolean;
}

export interface Strip {
  bins: readonly Bin[];
  most: number;
  start: number;
  end: number;
  /** The bin of an event by its order; of one without a mark, the bin of the one before. */
  binOf(order: number): number;
}

/** Share of the width that a long pause gets, whatever its length: compressed, never hidden. */
const IDLE_SHARE = 0.015;

/** What happened when, in `size` slices of the session's time. */
export function buildStrip(entries: Entries, size: number, revisions = readRevisions(entries)): Strip {
  const shown = entries.flatMap((entry) => (entry ? revisions.standingAt(entry).filter(isShown) : []));
  shown.sort((a, b) => a.time - b.time || orderOf(a) - orderOf(b));
  const positions = spread(shown);
  const bins: Bin[] = Array.from({ length: size }, () => ({ count: 0 }));
  const binByOrder = new Int32Array(entries.length + 1).fill(-1);
  for (const [index, entry] of shown.entries()) {
    const at = Math.min(size - 1, Math.floor((positions[index] ?? 0) * size));
    const bin = bins[at] as Bin;
    bin.count++;
    bin.first ??= entry.sequence;
    const mark = markOf(entry);
    if (mark) bin[mark] ??= entry.sequence;
    const before = shown[index - 1];
    if (before && entry.time - before.time > IDLE_MS) bin.idle = true;
    binByOrder[Math.floor(orderOf(entry))] = at;
  }
  return {
    bins,
    most: Math.max(1, ...bins.map(({ count }) => count)),
    start: shown[0]?.time ?? 0,
    end: shown.at(-1)?.time ?? 0,
    binOf(order) {
      for (let each = Math.min(Math.floor(order), entries.length); each > 0; each--) {
        const bin = binByOrder[each] ?? -1;
        if (bin >= 0) return bin;
      }
      return 0;
    },
  };
}

/** Each entry's place between 0 and 1. */
function spread(entries: readonly Entry[]): Float64Array {
  const steps = entries.map((entry, index) => entry.time - (entries[index - 1]?.time ?? entry.time));
  const active = steps.reduce((sum, step) => sum + (step > IDLE_MS ? 0 : step), 0);
  const idleWidth = Math.max(1, active * IDLE_SHARE);
  const positions = new Float64Array(entries.length);
  let at = 0;
  for (const [index, step] of steps.entries()) {
    at += step > IDLE_MS ? idleWidth : step;
    positions[index] = at;
  }
  return at === 0
    ? positions.map((_, index) => index / Math.max(1, entries.length))
    : positions.map((each) => each / at);
}

const isShown = ({ kind }: Entry): boolean =>
  kind !== 'quiet' && kind !== 'meta' && kind !== 'usage' && kind !== 'part';

function markOf(entry: Entry): 'prompt' | 'edit' | 'error' | undefined {
  if (entry.kind === 'prompt' && entry.lane === undefined) return 'prompt';
  if (entry.kind === 'error' || (entry.kind === 'result' && entry.failed)) return 'error';
  return entry.kind === 'call' && entry.changes.length > 0 ? 'edit' : undefined;
}
