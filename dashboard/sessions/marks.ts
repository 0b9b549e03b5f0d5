import { showHidden } from '../kit/text/controls.ts';

export interface Piece {
  start: number;
  piece: string;
  isMarked: boolean;
}

/**
 * A text in pieces, of which every other is marked. Marks that overlap, run backwards or past the end do no harm.
 * @param marks start and end in UTF-16 code units
 */
export function cutMarks(text: string, marks: readonly (readonly [number, number])[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  const add = (end: number, isMarked: boolean) => {
    if (end <= at) return;
    // Hidden characters are written out last, because that moves the text after them.
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
