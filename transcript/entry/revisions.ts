import { compareWriting, type Writing } from '../revision.ts';
import type { Entries, Entry } from './entry.ts';

/** The current entries of records that their agent wrote several times. */
export interface Revisions {
  /** The entries to show at an entry's place: the entry itself, the current entries of its record, or none. */
  standingAt(entry: Entry): readonly Entry[];
  /**
   * The places of the events of these records, by sequence; other events keep their own. Whole numbers are places of the first
   * revision. Added events have fractions between its last place and the next one.
   */
  orders: ReadonlyMap<number, number>;
}

/** The order of an entry among all: its sequence, or the first place of its record. */
export const orderOf = ({ order, sequence }: Pick<Entry, 'order' | 'sequence'>): number => order ?? sequence;

/** Small enough that the entries of one record never reach the next whole number. */
const STEP = 1e-6;

interface Rewritten {
  /** The entries of the first writing, and of the writing that counts. */
  first: Entry[];
  current: Entry[];
  counted: Pick<Writing, 'revision' | 'index'>;
  /** The writings that no longer count, in the order of their arrival. */
  past: Entry[][];
}

const NOTHING: readonly Entry[] = [];

/** Reads the entries once, and keeps only entries of revised records in memory. */
export function readRevisions(entries: Entries): Revisions {
  const standing = new Map<number, readonly Entry[]>();
  const orders = new Map<number, number>();
  for (const record of gather(entries)) if (record.past.length > 0) arrange(record, standing, orders);
  return { standingAt: (entry) => standing.get(entry.sequence) ?? [entry], orders };
}

function gather(entries: Entries): Iterable<Rewritten> {
  const records = new Map<string, Rewritten>();
  let last: { key: string; writing: Entry[] } | undefined;
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at];
    if (!entry?.writing) continue;
    at += entry.span - 1;
    const { key } = entry.writing;
    // A part that could not be joined counts as one event with the parts before it.
    const isLaterPart = entry.kind === 'part' && entry.part > 1 && last?.key === key;
    const writing = isLaterPart && last ? last.writing : writingFor(records, entry.writing);
    writing.push(entry);
    last = { key, writing };
  }
  return records.values();
}

/** The writing that an entry belongs to. A new writing is created if needed. */
function writingFor(records: Map<string, Rewritten>, { key, revision, index }: Writing): Entry[] {
  const known = records.get(key);
  const writing: Entry[] = [];
  if (known === undefined) {
    records.set(key, { first: writing, current: writing, counted: { revision, index }, past: [] });
    return writing;
  }
  const step = compareWriting({ revision, index }, known.counted);
  if (step === 'history') {
    known.past.push(writing);
    return writing;
  }
  known.counted = { revision, index };
  if (step === 'continues') return known.current;
  known.past.push(known.current);
  known.current = writing;
  return writing;
}

function arrange(
  { first, current, past }: Rewritten,
  standing: Map<number, readonly Entry[]>,
  orders: Map<number, number>,
): void {
  const last = first.at(-1) as Entry;
  const end = last.sequence + last.span - 1;
  const placed = current.map((entry, at) => {
    const order = first[at]?.sequence ?? end + (at - first.length + 1) * STEP;
    return { ...entry, order, earlier: [] as Entry[] };
  });
  const found = createFinder(placed);
  for (const [at, writing] of [...past, current].entries()) {
    const counterparts = found(writing);
    for (const [index, entry] of writing.entries()) {
      standing.set(entry.sequence, NOTHING);
      const counterpart = counterparts[index] as (typeof placed)[number];
      if (at < past.length) counterpart.earlier.push(entry);
      for (let sequence = entry.sequence; sequence < entry.sequence + entry.span; sequence++) {
        orders.set(sequence, counterpart.order);
      }
    }
  }
  for (const [at, entry] of first.entries()) {
    const stands = at === first.length - 1 ? placed.slice(at) : placed.slice(at, at + 1);
    standing.set(entry.sequence, stands);
  }
}

/** For each entry of a writing, finds the placed entry of the same kind and call; otherwise the first placed entry. */
function createFinder<Placed extends Entry>(placed: readonly Placed[]): (writing: readonly Entry[]) => Placed[] {
  const named = new Map(nameEach(placed).map((name, at) => [name, placed[at] as Placed]));
  const [first] = placed as [Placed];
  return (writing) => nameEach(writing).map((name) => named.get(name) ?? first);
}

function nameEach(writing: readonly Entry[]): string[] {
  const counts = new Map<string, number>();
  return writing.map((entry) => {
    const name = `${entry.kind} ${'callId' in entry ? (entry.callId ?? '') : ''}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name} ${count}`;
  });
}
