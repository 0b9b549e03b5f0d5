import { GEAR, type HashFilter, NO_HASHES } from './rolling-hash.ts';

/**
 * Calls `visit` for each occurrence of a keyword, in the order of their ends. Calls `suspect` where a filter may contain the
 * hash of the eight letters before `end`.
 */
export type KeywordScanner = (
  text: string,
  visit: (keyword: number, start: number) => void,
  hashes?: HashFilter,
  suspect?: (hash: number, end: number) => void,
) => void;

/**
 * Searches a text for all keywords at once in one pass (Aho-Corasick as a table, letters folded to lower case), and for the
 * known values beside it. The processor does both in the time of one.
 * A single native RegExp with all keywords tries its alternatives one after the other at each position, so each rule makes it
 * slower. This table does not get slower: see docs/redaction.md.
 */
export function createKeywordScanner(keywords: readonly string[]): KeywordScanner {
  const classes = classifyLetters(keywords);
  const bits = 32 - Math.clz32(Math.max(...classes));
  const { next, found } = buildTable(keywords, classes, bits);
  const lengths = keywords.map(({ length }) => length);

  return (text, visit, hashes = NO_HASHES, suspect = () => {}) => {
    // Names are local, because a look-up of a module's or closure's name at each letter halves the speed.
    const [table, row, letterClasses, gear, { length }] = [next, bits, classes, GEAR, text];
    const { bits: filter, shift } = hashes;
    let state = 0;
    let hash = 0;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      hash = ((hash << 4) + (gear[code & 255] as number)) | 0;
      const place = hash >>> shift;
      if ((((filter[place >>> 5] as number) >>> (place & 31)) & 1) === 1) suspect(hash, index + 1);
      state = table[(state << row) + (code < 128 ? (letterClasses[code] as number) : 0)] as number;
      if (state >= 0) continue;
      state = ~state;
      for (const word of found[state] as number[]) visit(word, index + 1 - (lengths[word] as number));
    }
  };
}

/** Letters that occur in no keyword share class 0. This keeps the table small enough for the cache. */
function classifyLetters(keywords: readonly string[]): Uint8Array {
  const classes = new Uint8Array(128);
  let count = 0;
  for (const letter of new Set(keywords.join(''))) {
    classes[letter.charCodeAt(0)] = ++count;
    classes[letter.toUpperCase().charCodeAt(0)] = count;
  }
  return classes;
}

/** The largest value in two bytes with a sign. */
const MAX_STATES = 0x7fff;

/**
 * Each state has a row of `1 << bits` places. Each place takes two bytes, since little of the table stays in the cache
 * between two texts.
 */
function buildTable(keywords: readonly string[], classes: Uint8Array, bits: number) {
  const trie: Map<number, number>[] = [new Map()];
  const found: (number[] | undefined)[] = [undefined];
  keywords.forEach((keyword, word) => {
    let state = 0;
    for (const letter of keyword) {
      const branches = trie[state] as Map<number, number>;
      const letterClass = classes[letter.charCodeAt(0)] as number;
      let child = branches.get(letterClass);
      if (child === undefined) {
        child = trie.push(new Map()) - 1;
        found.push(undefined);
        branches.set(letterClass, child);
      }
      state = child;
    }
    found[state] = [...(found[state] ?? []), word];
  });

  // A state beyond the limit would be confused with another one, and a secret would be missed.
  if (trie.length > MAX_STATES)
    throw new Error(`the keywords make ${trie.length} states, and ${MAX_STATES} is the most`);
  // The order is breadth first. A state's fallback is nearer to the root, so its row is complete when it is copied.
  const next = new Int16Array(trie.length << bits);
  const fallback = new Int32Array(trie.length);
  const queue = [0];
  for (const state of queue) {
    const back = fallback[state] as number;
    if (state !== 0) {
      next.copyWithin(state << bits, back << bits, (back + 1) << bits);
      const shorter = found[back];
      if (shorter !== undefined) found[state] = [...(found[state] ?? []), ...shorter];
    }
    for (const [letterClass, child] of trie[state] as Map<number, number>) {
      fallback[child] = state === 0 ? 0 : (next[(back << bits) + letterClass] as number);
      next[(state << bits) + letterClass] = child;
      queue.push(child);
    }
  }
  // A negative sign marks a state in which a keyword ends.
  for (let place = 0; place < next.length; place++) {
    const state = next[place] as number;
    if (found[state] !== undefined) next[place] = ~state;
  }
  return { next, found };
}
