/**
 * How well a line fits what was typed: each word of it has to begin a word of the line, in any order; the line's own order
 * and its beginning count more. 0 where it does not fit.
 */
export function rankWords(line: string, typed: string): number {
  const words = wordsOf(line);
  let rank = 1;
  let last = -1;
  for (const wanted of wordsOf(typed)) {
    const at = words.findIndex((word) => word.startsWith(wanted));
    if (at === -1) return 0;
    if (at !== last + 1) rank *= 0.8;
    if (words[at] !== wanted) rank *= 0.9;
    last = at;
  }
  return rank;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
