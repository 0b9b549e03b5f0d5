import { RowWords } from '../search/row-words.ts';
import type { Wanted } from '../search/term.ts';
import { addWords } from '../search/words.ts';
import { bitOf, Signature } from '../store/signature.ts';
import type { IndexedWord, WordsWanted } from '../store/word-index.ts';
import type { Steps as Work } from '../work.ts';

/** The words of a text. */
export function wordsOf(text: string): Set<string> {
  const words = new RowWords();
  addWords(text, words, new Signature());
  return new Set(words.takeFresh());
}

/** Whether the search would read a chunk with this text. */
export function leadsTo(text: string, { indexed, sure, unsure }: Wanted): boolean {
  const row = new RowWords();
  const signature = new Signature();
  addWords(text, row, signature);
  const words = new Set(row.takeFresh());
  const isInRow = ({ word, open, after }: IndexedWord) =>
    after !== undefined || (open ? [...words].some((one) => one.startsWith(word)) : words.has(word));
  const isInChunk = ({ word, open, after }: IndexedWord) => open || hasBit(signature, bitOf(word, after));
  const has = (wanted: WordsWanted, isThere: (one: IndexedWord) => boolean) =>
    wanted.every((alternatives) => alternatives.some((all) => all.every(isThere)));
  const isRead = (wanted: WordsWanted | undefined) =>
    wanted !== undefined && has(wanted, isInRow) && has(wanted, isInChunk);
  return has(indexed, isInRow) && (isRead(sure) || isRead(unsure));
}

/** Whether a bit of a signature is set. */
export const hasBit = ({ bytes }: Signature, bit: number): boolean =>
  (((bytes[bit >>> 3] as number) >>> (bit & 7)) & 1) === 1;

/** Runs work to its end without yielding to others, and returns its result. Calls `stepped` after each step. */
export function done<Result>(work: Work<Result>, stepped?: () => void): Result {
  for (;;) {
    const step = work.next();
    stepped?.();
    if (step.done) return step.value;
  }
}
