import type { Span } from './mark.ts';

/** A text without a terminal's control sequences, and the positions of its letters in the original text. */
export interface View {
  text: string;
  locate(span: Span): Span;
}

/** The plain character, and its forms in JSON, C and shells. */
export const COLOUR = String.raw`(?:\u001b|\\{1,3}(?:u001b|x1b|e|033))\[[\d;]{0,16}[mK]`;
const COLOURS = new RegExp(COLOUR, 'g');
/** Most texts have none, and searching for these costs almost nothing. */
const ESCAPES = ['\u001b[', 'u001b[', 'x1b[', '\\e[', '033['];
/** No terminal wraps at a smaller width, and no line of a terminal is longer. */
const [NARROWEST, WIDEST] = [40, 400];
/** Usual widths of terminals, and of programs that wrap lines, for instance in mails and keys. */
const isUsual = (width: number) => width % 10 === 0 || width % 8 === 0 || width === 76 || width === 132;
const PART_OF_TOKEN = /[\w+/=.~-]/;

/**
 * The text before a terminal coloured it and broke its lines at its width. Undefined if it did neither. A break counts if no
 * line is longer than the one before it and no blank is near.
 */
export function viewPlain(text: string): View | undefined {
  const removed = [...(ESCAPES.some((each) => text.includes(each)) ? findColours(text) : []), ...findWraps(text)];
  if (removed.length === 0) return undefined;
  removed.sort(([one], [other]) => one - other);
  const kept: string[] = [];
  /** For each kept piece, where it begins in the view and in the text. */
  const pieces: [inView: number, inText: number][] = [];
  let from = 0;
  let length = 0;
  for (const [start, end] of [...removed, [text.length, text.length] as const]) {
    if (start < from) continue;
    pieces.push([length, from]);
    kept.push(text.slice(from, start));
    length += start - from;
    from = end;
  }
  const locateIndex = (index: number) => {
    const [inView, inText] = pieces[findLast(pieces, index)] ?? [0, 0];
    return inText + index - inView;
  };
  return {
    text: kept.join(''),
    locate: (span) => ({ ...span, start: locateIndex(span.start), end: locateIndex(span.end - 1) + 1 }),
  };
}

const findColours = (text: string) =>
  Array.from(text.matchAll(COLOURS), ({ 0: found, index }) => [index, index + found.length] as const);

function findWraps(text: string): (readonly [number, number])[] {
  let widest = 0;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    if (end < 0) break;
    if (end - start > widest) widest = end - start;
    if (widest > WIDEST) return [];
    start = end + 1;
  }
  const last = text.length - text.lastIndexOf('\n') - 1;
  if (widest < NARROWEST || last > widest || !isUsual(widest)) return [];
  const wraps: (readonly [number, number])[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    if (end < 0) break;
    const isFull = end - start === widest;
    if (isFull && PART_OF_TOKEN.test(text[end - 1] ?? '') && PART_OF_TOKEN.test(text[end + 1] ?? ''))
      wraps.push([end, end + 1]);
    start = end + 1;
  }
  return wraps;
}

/** The last piece that begins at or before `index`. */
function findLast(pieces: readonly [number, number][], index: number): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((pieces[middle]?.[0] ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}
