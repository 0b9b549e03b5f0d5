/** The most code units of one visible character, such as a family emoji. */
const WIDEST = 50;
const characters = new Intl.Segmenter();

/**
 * The position at which to cut a text between `start` and `limit`: after the last line that fits, or else after the last
 * word, or else between two visible characters.
 */
export function cutAt(text: string, start: number, limit: number): number {
  if (limit >= text.length) return text.length;
  for (const between of ['\n', ' ']) {
    const at = text.lastIndexOf(between, limit - 1);
    // A cut in the first half would make the piece too short.
    if (at > (start + limit) / 2) return at + 1;
  }
  const around = Math.max(start, limit - WIDEST);
  const character = characters.segment(text.slice(around, limit + WIDEST)).containing(limit - around);
  return character && character.index > 0 ? around + character.index : limit;
}

/** Cuts a text into pieces of at most `most` characters. Joined, they are the text again. */
export function cutText(text: string, most: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = cutAt(text, start, start + most);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
