import type { LeafDigest } from '../../contract/digest.ts';
import type { Digester } from './expect.ts';

/**
 * How a payload at the service compares with the one that capturing makes now.
 *  - `same`: every value, but perhaps for the file and the position it came from
 *  - `masked`: every value but those that were masked then or would be now
 *  - `different`: at the given places
 */
export type Comparison = { result: 'same' | 'masked' } | { result: 'different'; leaves: string[] };

const MOST_LEAVES = 5;

/** Where a record stands may change without the record: files are moved and rewritten. */
const OF_PLACE = new Set(['/source/file', '/source/position']);

/** Lays the leaves of a payload's text beside those that the service holds. */
export function compareLeaves(text: string, held: readonly LeafDigest[], { digestLeaves }: Digester): Comparison {
  const theirs = new Map(held.map((leaf) => [leaf.path, leaf]));
  const different: string[] = [];
  let isMasked = false;
  const note = (place: string, ...leaves: (LeafDigest | undefined)[]) => {
    if (leaves.some((leaf) => leaf?.masked || leaf?.field === 'redactions')) isMasked = true;
    else different.push(place);
  };
  for (const leaf of digestLeaves(text)) {
    const other = theirs.get(leaf.path);
    theirs.delete(leaf.path);
    if (other?.value === leaf.value) continue;
    const place = leaf.pointer();
    if (!OF_PLACE.has(place)) note(place, leaf, other);
  }
  for (const leaf of theirs.values()) note(leaf.field === undefined ? 'a value' : `a value in /${leaf.field}`, leaf);
  if (different.length > 0) return { result: 'different', leaves: different.slice(0, MOST_LEAVES) };
  return { result: isMasked ? 'masked' : 'same' };
}

/** What the parsers add to a record. */
const OF_PARSER = new Set(['kind', 'titleBy', 'cached', 'images', 'redactions']);
const OF_SOURCE = new Set([...OF_PLACE, '/source/index', '/source/agentVersion']);

/**
 * Whether texts and held leaves have the same values, some of them under other names: an earlier version may have named
 * them so.
 */
export function haveSameValues(
  texts: readonly string[],
  held: readonly LeafDigest[],
  { digestLeaves }: Digester,
): boolean {
  const ignored = new Set<string>();
  const there = new Set(held.map(({ path, value }) => `${path} ${value}`));
  const balance = new Map<string, number>();
  const count = ({ value }: LeafDigest, by: number) => balance.set(value, (balance.get(value) ?? 0) + by);
  const counts = ({ field, path }: LeafDigest) => !OF_PARSER.has(field ?? '') && !ignored.has(path);
  let isMoved = false;
  for (const text of texts) {
    for (const leaf of digestLeaves(text)) {
      if (OF_SOURCE.has(leaf.pointer())) ignored.add(leaf.path);
      if (!counts(leaf)) continue;
      count(leaf, 1);
      if (!there.has(`${leaf.path} ${leaf.value}`)) isMoved = true;
    }
  }
  for (const leaf of held) if (counts(leaf)) count(leaf, -1);
  return isMoved && [...balance.values()].every((by) => by === 0);
}

/** Whether an event is what is left of one that could not be searched for secrets. */
export function isWithheld(text: string, held: readonly LeafDigest[], { digestLeaves }: Digester): boolean {
  const { source } = JSON.parse(text) as { source: object };
  const marked = [...digestLeaves(JSON.stringify({ source, redactions: { withheld: 1 } }))].at(-1);
  return held.some(({ path, value }) => path === marked?.path && value === marked.value);
}
