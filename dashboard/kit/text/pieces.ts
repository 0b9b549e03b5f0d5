/** As wide as a character of a reader gets, such as a family of emoji. */
const WIDEST = 50;
const characters = new Intl.Segmenter();

/**
 * Where a text is cut that may reach from `start` to `limit`: after the last line that fits, or else after the last word,
 * or else between two characters as a reader sees them.
 */
export function cutAt(text: string, start: number, limit: number): number {
  if (limit >= text.length) return text.length;
  for (const between of ['\n', ' ']) {
    const at = text.lastIndexOf(between, limit - 1);
    // A line or a word that begins in the first half would leave a piece too short to be worth it.
    if (at > (start + limit) / 2) return at + 1;
  }
  const around = Math.max(start, limit - WIDEST);
  const character = characters.segment(text.slice(around, limit + WIDEST)).containing(limit - around);
  return character && character.index > 0 ? around + character.index : limit;
}

/** A text in pieces of at most `most` characters, which together are the text. */
export function cutText(text: string, most: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = cutAt(text, start, start + most);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
