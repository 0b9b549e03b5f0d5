import type { Span } from './mark.ts';

/** A text without a terminal's control sequences, and the positions of its letters in the text itself. */
export interface View {
  text: string;
  locate(span: Span): Span;
}

/** As it is, and as JSON, C and shells write it. */
export const COLOUR = String.raw`(?:\u001b|\\{1,3}(?:u001b|x1b|e|033))\[[\d;]{0,16}[mK]`;
const COLOURS = new RegExp(COLOUR, 'g');
/** Most texts have none, and to look for these costs next to nothing. */
const ESCAPES = ['\u001b[', 'u001b[', 'x1b[', '\\e[', '033['];
/** A terminal wraps no narrower, and a line that is longer is no line of one. */
const [NARROWEST, WIDEST] = [40, 400];
/** Widths of terminals, and of programs that wrap lines, as for mails and keys. */
const isUsual = (width: number) => width % 10 === 0 || width % 8 === 0 || width === 76 || width === 132;
const PART_OF_TOKEN = /[\w+/=.~-]/;

/**
 * The text as it was before a terminal coloured it and broke its lines at its width; undefined where it did neither. A
 * break counts where all lines are as long as the one before it at most, and no blank is near.
 */
export function viewPlain(text: string): View | undefined {
  const removed = [...(ESCAPES.some((each) => text.includes(each)) ? findColours(text) : []), ...findWraps(text)];
  if (removed.length === 0) return undefined;
  removed.sort(([one], [other]) => one - other);
  const kept: string[] = [];
  /** Of each kept piece: where it begins in the view, and in the text. */
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

/** The last piece that begins at `index` or before it. */
function findLast(pieces: readonly [number, number][], index: number): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((pieces[middle]?.[0] ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}
