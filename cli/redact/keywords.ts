/** Calls `visit` for each occurrence of a keyword, in the order of their ends. */
export type KeywordScanner = (text: string, visit: (keyword: number, start: number) => void) => void;

/** Letters: some ten microseconds' worth. */
const WINDOW = 2048;

/**
 * One pass over a text for all keywords at once (Aho-Corasick as a table, letters folded to lower case).
 *
 * Measured on transcripts with `bench.ts`: see docs/redaction.md; one combined native RegExp tries its alternatives one
 * after the other at each position, so it gets slower with each rule, and this does not. `pause` is called after each
 * window of text.
 */
export function createKeywordScanner(keywords: readonly string[], pause: () => void = () => {}): KeywordScanner {
  const classes = classifyLetters(keywords);
  const width = Math.max(...classes) + 1;
  const { next, found } = buildTable(keywords, classes, width);

  return (text, visit) => {
    let state = 0;
    for (let from = 0; from < text.length; from += WINDOW) {
      const to = Math.min(text.length, from + WINDOW);
      for (let index = from; index < to; index++) {
        const code = text.charCodeAt(index);
        state = next[state + (code < 128 ? (classes[code] as number) : 0)] as number;
        const words = found[state / width];
        if (words === undefined) continue;
        for (const word of words) visit(word, index + 1 - (keywords[word] as string).length);
      }
      pause();
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
  return { next, found };
}
