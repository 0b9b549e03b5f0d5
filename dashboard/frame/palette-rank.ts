/**
 * How well a line matches the typed words. Each typed word must begin a word of the line, in any order. Words in the order
 * of the line, from its beginning, rank higher. 0 if the line does not match.
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
