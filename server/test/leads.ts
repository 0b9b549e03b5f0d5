import type { Wanted } from '../search/term.ts';
import { addWords } from '../search/words.ts';
import type { Steps as Work } from '../work.ts';

/** The words of a text. */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  addWords(text, words);
  return words;
}

/** Whether a chunk with these words would be looked into. */
export const leadsTo = (words: ReadonlySet<string>, { indexed }: Wanted): boolean =>
  indexed.every((alternatives) =>
    alternatives.some((all) =>
      all.every(({ word, open }) => (open ? [...words].some((one) => one.startsWith(word)) : words.has(word))),
    ),
  );

/** What work comes to, done without turns of others; told of each step when it is over. */
export function done<Result>(work: Work<Result>, stepped?: () => void): Result {
  for (;;) {
    const step = work.next();
    stepped?.();
    if (step.done) return step.value;
  }
}
