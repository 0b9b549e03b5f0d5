import { GEAR, type HashFilter, NO_HASHES } from './known/rolling-hash.ts';

/**
 * Calls `visit` for each occurrence of a keyword, in the order of their ends, and `suspect` where the eight letters before
 * `end` are, by their hash, perhaps among those of a filter.
 */
export type KeywordScanner = (
  text: string,
  visit: (keyword: number, start: number) => void,
  hashes?: HashFilter,
  suspect?: (hash: number, end: number) => void,
) => void;

/**
 * One pass over a text for all keywords at once (Aho-Corasick as a table, letters folded to lower case), and for the known
 * values beside it: the processor does both in the time of one.
 *
 * One combined native RegExp tries its alternatives one after the other at each position, so it gets slower with each
 * rule, and this does not: see docs/redaction.md.
 */
export function createKeywordScanner(keywords: readonly string[]): KeywordScanner {
  const classes = classifyLetters(keywords);
  const width = Math.max(...classes) + 1;
  const { next, found } = buildTable(keywords, classes, width);
  const lengths = keywords.map(({ length }) => length);

  return (text, visit, { bits, shift } = NO_HASHES, suspect = () => {}) => {
    // Names of this function: what is looked up in a module or a closure at each letter makes it half as fast.
    const [table, letterClasses, gear, { length }] = [next, classes, GEAR, text];
    let state = 0;
    let hash = 0;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      hash = ((hash << 4) + (gear[code & 255] as number)) | 0;
      const place = hash >>> shift;
      if ((((bits[place >>> 5] as number) >>> (place & 31)) & 1) === 1) suspect(hash, index + 1);
      state = table[state + (code < 128 ? (letterClasses[code] as number) : 0)] as number;
      if (state >= 0) continue;
      state = ~state;
      for (const word of found[state / width] as number[]) visit(word, index + 1 - (lengths[word] as number));
    }
  };
}

/** Letters no keyword has share class 0, which keeps the table small enough for the cache. */
function classifyLetters(keywords: readonly string[]): Uint8Array {
  const classes = new Uint8Array(128);
  let count = 0;
  for (const letter of new Set(keywords.join(''))) {
    classes[letter.charCodeAt(0)] = ++count;
    classes[letter.toUpperCase().charCodeAt(0)] = count;
  }
  return classes;
}

function buildTable(keywords: readonly string[], classes: Uint8Array, width: number) {
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

  // Breadth first: a state's fallback is nearer to the root, so its row is complete when it is copied.
  const next = new Int32Array(trie.length * width);
  const fallback = new Int32Array(trie.length);
  const queue = [0];
  for (const state of queue) {
    const back = fallback[state] as number;
    if (state !== 0) {
      next.copyWithin(state * width, back * width, back * width + width);
      const shorter = found[back];
      if (shorter !== undefined) found[state] = [...(found[state] ?? []), ...shorter];
    }
    for (const [letterClass, child] of trie[state] as Map<number, number>) {
      fallback[child] = state === 0 ? 0 : (next[back * width + letterClass] as number) / width;
      next[state * width + letterClass] = child * width;
      queue.push(child);
    }
  }
  // The state in which a keyword ends is told by its sign.
  for (const [place, state] of next.entries()) if (found[state / width] !== undefined) next[place] = ~state;
  return { next, found };
}
