import type { Wanted } from '../search/term.ts';
import { addWords } from '../search/words.ts';
import type { Steps as Work } from '../work.ts';

/** The words of a text. */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  addWords(text, words);
  return words;
}

/** Whether the search would read a chunk with these words. */
export const leadsTo = (words: ReadonlySet<string>, { indexed }: Wanted): boolean =>
  indexed.every((alternatives) =>
    alternatives.some((all) =>
      all.every(({ word, open }) => (open ? [...words].some((one) => one.startsWith(word)) : words.has(word))),
    ),
  );

/** Runs work to its end without yielding to others, and returns its result. Calls `stepped` after each step. */
export function done<Result>(work: Work<Result>, stepped?: () => void): Result {
  for (;;) {
    const step = work.next();
    stepped?.();
    if (step.done) return step.value;
  }
}
