import type { Entry } from '../../../transcript/entry/entry.ts';
import { orderOf, type Revisions } from '../../../transcript/entry/revisions.ts';
import { childrenOf, entriesOf, type Item, isFailure, soleLane, standsOut, versionOf } from './items.ts';

/** A line of the timeline: an item and its depth in the tree. */
export interface Row {
  key: string;
  item: Item;
  depth: number;
  /** The version of the item when the row was created. */
  version: number;
  isOpen: boolean;
  /** The start of the session, in epoch milliseconds. */
  start: number;
  /** The time of the row, if it is the first row of a day. */
  day?: number;
  /** The estimated height in pixels, before the row is drawn. */
  height?: number;
}

const DAY_MS = 86_400_000;

export type IsOpen = (item: Item) => boolean;

/** The kinds of rows that a reader can filter by. */
export const SHOWABLE = ['prompts', 'answers', 'edits', 'failures', 'subagents', 'records'] as const;
export type Showable = (typeof SHOWABLE)[number];

export const isOfKind: Record<Showable, (item: Item) => boolean> = {
  prompts: (item) => item.kind === 'message' && item.entry.kind === 'prompt' && item.entry.lane === undefined,
  answers: (item) => item.kind === 'message' && item.entry.kind === 'answer',
  edits: (item) => item.kind === 'tool' && item.changes.length > 0,
  failures: isFailure,
  subagents: (item) => item.kind === 'lane',
  records: (item) => item.kind === 'quiet',
};

/** The number of items of each kind, including folded ones. Records are counted one by one. */
export function countShowable(items: readonly Item[]): Record<Showable, number> {
  const counts = { prompts: 0, answers: 0, edits: 0, failures: 0, subagents: 0, records: 0 };
  const visit = (item: Item) => {
    for (const kind of SHOWABLE) {
      if (isOfKind[kind](item)) counts[kind] += item.kind === 'quiet' ? item.entries.length : 1;
    }
    if (item.kind !== 'quiet') for (const child of childrenOf(item)) visit(child);
  };
  for (const item of items) visit(item);
  return counts;
}

/**
 * The visible rows: the tree without its closed parts. Records are only included on request. If other kinds are requested,
 * only these are included, wherever they are folded.
 * @param known the previous rows: an unchanged row is reused, so that it is not drawn again
 */
export function flatten(
  items: readonly Item[],
  isOpen: IsOpen,
  shown: readonly Showable[] = ['records'],
  known: (key: string) => Row | undefined = () => undefined,
): Row[] {
  const rows: Row[] = [];
  const kinds = shown.filter((kind) => kind !== 'records');
  const hasRecords = shown.includes('records');
  const start = items.find(({ time }) => time > 0)?.time ?? 0;
  const zone = new Date(start).getTimezoneOffset() * 60_000;
  let latest = Number.NEGATIVE_INFINITY;
  const push = (item: Item, depth: number): boolean => {
    const day = Math.floor((item.time - zone) / DAY_MS);
    const isNewDay = item.kind !== 'idle' && day > latest;
    if (isNewDay) latest = day;
    const row: Row = { key: item.key, item, depth, version: versionOf(item), isOpen: isOpen(item), start };
    if (isNewDay) row.day = item.time;
    const before = known(item.key);
    rows.push(before && isSame(before, row) ? before : row);
    return row.isOpen;
  };
  const visit = (item: Item, depth: number) => {
    if (item.kind === 'quiet' && !hasRecords) return;
    const open = push(item, depth);
    if (!open && item.kind !== 'tool' && item.kind !== 'group') return;
    const lane = soleLane(item);
    if (lane && !open) return;
    for (const child of lane?.items ?? childrenOf(item))
      if (open || shownWhenClosed(item, child)) visit(child, depth + 1);
  };
  const pick = (item: Item) => {
    const isPicked = kinds.some((kind) => isOfKind[kind](item)) || (hasRecords && item.kind === 'quiet');
    if (isPicked) push(item, 0);
    if (item.kind !== 'quiet' || (isPicked && isOpen(item))) for (const child of childrenOf(item)) pick(child);
  };
  for (const item of items) {
    if (kinds.length > 0) pick(item);
    else visit(item, 0);
  }
  return rows;
}

const isSame = (a: Row, b: Row): boolean =>
  a.item === b.item &&
  a.version === b.version &&
  a.isOpen === b.isOpen &&
  a.depth === b.depth &&
  a.start === b.start &&
  a.day === b.day;

function shownWhenClosed(parent: Item, child: Item): boolean {
  if (parent.kind === 'tool') return true;
  return parent.kind === 'group' && (child.kind === 'tool' || child.kind === 'quiet') && standsOut(child);
}

/** Whether an item unfolds into more rows, or shows more of itself. */
export function canOpen(item: Item): boolean {
  if (item.kind === 'message') return item.entry.kind === 'reasoning' || item.entry.kind === 'compaction';
  return item.kind === 'tool' || item.kind === 'group' || item.kind === 'quiet' || isFullLane(item);
}

/** Whether “open everything” opens the item. Calls and records stay closed, since each needs a request to the service. */
export const opensWithAll = (item: Item): boolean =>
  item.kind === 'group' || item.kind === 'message' || isFullLane(item) || soleLane(item) !== undefined;

const isFullLane = (item: Item) => item.kind === 'lane' && item.items.length > 0;

/** The place of an event: the item that shows it, and the parents to open. */
export interface Place {
  key: string;
  parents: readonly string[];
}

/**
 * Finds an event. An event without a row of its own, such as a usage report, is found at the row before it. An event that
 * was written again is found at the latest version of its record.
 */
export function locate(items: readonly Item[], sequence: number, orders: Revisions['orders']): Place | undefined {
  const moved = orders.get(sequence);
  const order = moved ?? sequence;
  const isHere = (entry: Entry) =>
    moved === undefined
      ? sequence >= entry.sequence && sequence < entry.sequence + entry.span
      : orderOf(entry) === moved;
  const parents: string[] = [];
  let nearest: { place: Place; order: number } | undefined;
  const visit = (item: Item): Place | undefined => {
    for (const entry of entriesOf(item)) {
      if (isHere(entry)) return { key: item.key, parents: parents.slice() };
      if (orderOf(entry) < order && orderOf(entry) > (nearest?.order ?? 0)) {
        nearest = { place: { key: item.key, parents: parents.slice() }, order: orderOf(entry) };
      }
    }
    parents.push(item.key);
    for (const child of childrenOf(item)) {
      const found = visit(child);
      if (found) return found;
    }
    parents.pop();
    return undefined;
  };
  for (const item of items) {
    const found = visit(item);
    if (found) return found;
  }
  return nearest?.place;
}

/** Every failure with the parents to open, in the order of the timeline. */
export function failuresOf(items: readonly Item[]): (Place & Pick<Item, 'sequence' | 'order'>)[] {
  const found: ReturnType<typeof failuresOf> = [];
  const parents: string[] = [];
  const visit = (item: Item) => {
    if (isFailure(item)) {
      found.push({ key: item.key, parents: parents.slice(), sequence: item.sequence, order: item.order });
    }
    if (item.kind === 'quiet') return;
    parents.push(item.key);
    for (const child of childrenOf(item)) visit(child);
    parents.pop();
  };
  for (const item of items) visit(item);
  return found;
}
