import { RowWords } from '../search/row-words.ts';
import type { Wanted } from '../search/term.ts';
import { addWords } from '../search/words.ts';
import { Signature } from '../store/signature.ts';
import type { Steps as Work } from '../work.ts';

/** The words of a text. */
export function wordsOf(text: string): Set<string> {
  const words = new RowWords();
  addWords(text, words, new Signature());
  return new Set(words.takeFresh());
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
