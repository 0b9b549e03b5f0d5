import type { Entry } from '../../contract/entry/entry.ts';
import { orderOf, type Revisions } from '../../contract/entry/revisions.ts';
import { childrenOf, entriesOf, type Item, isFailure, standsOut } from './items.ts';

/** A line of the timeline: an item, and how deep it is nested. */
export interface Row {
  key: string;
  item: Item;
  depth: number;
}

export type IsOpen = (item: Item) => boolean;

/** The rows in sight: the tree with its closed parts left out. */
export function flatten(items: readonly Item[], isOpen: IsOpen): Row[] {
  const rows: Row[] = [];
  const visit = (item: Item, depth: number) => {
    rows.push({ key: item.key, item, depth });
    const open = isOpen(item);
    for (const child of childrenOf(item)) {
      if (open || shownWhenClosed(item, child)) visit(child, depth + 1);
    }
  };
  for (const item of items) visit(item, 0);
  return rows;
}

function shownWhenClosed(parent: Item, child: Item): boolean {
  if (parent.kind === 'tool') return true;
  return parent.kind === 'group' && (child.kind === 'tool' || child.kind === 'quiet') && standsOut(child);
}

/** Items that unfold into more rows, or show more of themselves. */
export function canOpen(item: Item): boolean {
  if (item.kind === 'message') return item.entry.kind === 'reasoning' || item.entry.kind === 'compaction';
  if (item.kind === 'tool') return item.changes.length > 0;
  return item.kind === 'group' || item.kind === 'quiet' || (item.kind === 'lane' && item.items.length > 0);
}

/** Where an event is: the item that shows it, and the items to open for it. */
export interface Place {
  key: string;
  parents: readonly string[];
}

/**
 * An event without a row of its own, such as a usage report, is found at the row before it; one that was written again,
 * at what its record is now.
 */
export function locate(items: readonly Item[], sequence: number, orders: Revisions['orders']): Place | undefined {
  const moved = orders.get(sequence);
  const order = moved ?? sequence;
  const isHere = (entry: Entry) =>
    moved === undefined
      ? sequence >= entry.sequence && sequence < entry.sequence + entry.span
      : orderOf(entry) === moved;
  let nearest: { place: Place; order: number } | undefined;
  const visit = (item: Item, parents: readonly string[]): Place | undefined => {
    const place = { key: item.key, parents };
    const entries = entriesOf(item);
    if (entries.some(isHere)) return place;
    if (item.kind === 'gap' && sequence >= item.from && sequence <= item.to) return place;
    for (const entry of entries) {
      if (orderOf(entry) < order && orderOf(entry) > (nearest?.order ?? 0)) nearest = { place, order: orderOf(entry) };
    }
    const inside = [...parents, item.key];
    for (const child of childrenOf(item)) {
      const found = visit(child, inside);
      if (found) return found;
    }
    return undefined;
  };
  for (const item of items) {
    const found = visit(item, []);
    if (found) return found;
  }
  return nearest?.place;
}

/** Every failure with the items to open for it, in the order of the timeline. */
export function failuresOf(items: readonly Item[]): (Place & Pick<Item, 'sequence' | 'order'>)[] {
  const found: ReturnType<typeof failuresOf> = [];
  const visit = (item: Item, parents: readonly string[]) => {
    if (isFailure(item)) found.push({ key: item.key, parents, sequence: item.sequence, order: item.order });
    if (item.kind === 'quiet') return;
    const inside = [...parents, item.key];
    for (const child of childrenOf(item)) visit(child, inside);
  };
  for (const item of items) visit(item, []);
  return found;
}
