import { joinParts } from '../parts.ts';
import type { Entry, PartEntry } from './entry.ts';
import { readJoined } from './read.ts';

/** Joins the parts of large payloads once all of them are loaded, and reads each payload as a whole. */
export function joinAround(loaded: (Entry | undefined)[], from: number, to: number, read = readJoined): void {
  for (let sequence = from; sequence <= to; sequence++) {
    const entry = loaded[sequence - 1];
    if (entry?.kind !== 'part') continue;
    const start = sequence - entry.part;
    const parts = loaded.slice(Math.max(0, start), start + entry.of).filter(isPartOf(entry));
    const complete = parts.length === entry.of && parts.every(({ part }, index) => part === index + 1);
    if (!complete) continue;
    loaded[start] = join(parts, read);
    sequence = start + entry.of;
  }
}

const isPartOf =
  ({ identity, of }: PartEntry) =>
  (entry: Entry | undefined): entry is PartEntry =>
    entry?.kind === 'part' && entry.identity === identity && entry.of === of;

function join(parts: readonly PartEntry[], read: typeof readJoined): Entry {
  const first = parts[0] as PartEntry;
  try {
    const slices = parts.map(({ part, of, json }) => ({ part, of, json, source: {} as never }));
    return read(first, joinParts(slices), parts.length);
  } catch {
    // The joined text is not a payload, so the parts are shown as they are.
    return first;
  }
}
