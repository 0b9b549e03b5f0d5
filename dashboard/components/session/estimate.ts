import type { Row } from '../../timeline/rows.ts';

const LINE_PX = 22;
const CHARACTER_PX = 7.1;
/** Beyond this, a text is folded. */
const MOST_LINES = 80;
/** The widest a text is. */
const WIDEST_PX = 620;

/** Rows are asked for again and again, all of them, whenever one is measured. */
const known = new WeakMap<Row, number>();

/** Roughly how high a row will be, until it is measured. Width is that of the timeline, in pixels. */
export function estimateRow(row: Row | undefined, isOpen: (item: Row['item']) => boolean, width: number): number {
  if (!row) return 32;
  const height = known.get(row) ?? estimate(row, isOpen, width) + (row.day === undefined ? 0 : 28);
  known.set(row, height);
  return height;
}

function estimate({ item }: Row, isOpen: (item: Row['item']) => boolean, width: number): number {
  if (item.kind === 'quiet' || item.kind === 'record') return 28;
  if (item.kind === 'tool') return (item.failed ? 52 : 32) + (isOpen(item) ? 240 : 0);
  if (item.kind !== 'message') return 32;
  const { entry } = item;
  if (entry.kind !== 'prompt' && entry.kind !== 'answer') return 32;
  const perLine = Math.max(30, Math.min(WIDEST_PX, width - 130) / CHARACTER_PX);
  const around = entry.kind === 'prompt' ? 66 : 36;
  return around + textHeight(entry, perLine);
}

/** Of a text of which only the beginning may be here. */
export function textHeight({ text, length }: { text: string; length: number }, perLine = 87): number {
  const lines = Math.max(1, countLines(text, perLine)) * (text.length > 0 ? length / text.length : 1);
  return LINE_PX * Math.min(MOST_LINES, lines);
}

/** Of the text when it is broken after so many characters; paragraphs stand apart. */
function countLines(text: string, perLine: number): number {
  let lines = 0;
  let start = 0;
  while (start <= text.length && lines < MOST_LINES) {
    const end = text.indexOf('\n', start);
    const length = (end < 0 ? text.length : end) - start;
    lines += length === 0 ? 0.4 : Math.ceil(length / perLine);
    if (end < 0) break;
    start = end + 1;
  }
  return lines;
}
