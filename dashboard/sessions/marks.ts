import { showHidden } from '../kit/text/controls.ts';

export interface Piece {
  start: number;
  piece: string;
  isMarked: boolean;
}

/**
 * Cuts a text into pieces that are marked in turn. Marks may overlap, run backwards or exceed the text.
 * @param marks start and end in UTF-16 code units
 * @param from the text before this position is left out
 */
export function cutMarks(text: string, marks: readonly (readonly [number, number])[], from = 0): Piece[] {
  const pieces: Piece[] = [];
  let at = from;
  const add = (end: number, isMarked: boolean) => {
    if (end <= at) return;
    // Hidden characters are made visible last, since that shifts the text after them.
    pieces.push({ start: at, piece: showHidden(text.slice(at, end)), isMarked });
    at = end;
  };
  for (const [start, end] of marks.toSorted(([a], [b]) => a - b)) {
    add(Math.min(start, text.length), false);
    add(Math.min(end, text.length), true);
  }
  add(text.length, false);
  return pieces;
}

/** A narrow line has room for this many characters before the first mark. */
const BEFORE_MARK = 16;

/** The position at which a text begins in a narrow line, so that its first mark is visible. It is the start of a word. */
export function beginNearMark(text: string, marks: readonly (readonly [number, number])[]): number {
  const first = Math.min(...marks.map(([start]) => start), text.length);
  if (marks.length === 0 || first <= BEFORE_MARK) return 0;
  const space = text.indexOf(' ', first - BEFORE_MARK);
  return space === -1 || space >= first ? first : space + 1;
}
