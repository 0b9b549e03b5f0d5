import type { Context } from '../context.ts';
import { toPlainText } from '../terminal.ts';

/** A column: its heading, and down to how many cells of the terminal it may be shortened; not at all without. */
export interface Column {
  heading: string;
  least?: number;
  /** Of a path the end says more than its beginning. */
  cut?: 'start';
}

const GAP = 2;

/**
 * Rows under headings, in the width of a terminal: columns that may be are shortened, the last one first. Into a file or a
 * pipe everything goes.
 */
export function alignColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { stdout }: Pick<Context, 'stdout'>,
): string[] {
  const plain = rows.map((row) => row.map((cell) => toPlainText(cell).replaceAll(/[\n\t]/g, ' ')));
  const table = [columns.map(({ heading }) => heading), ...plain];
  const widths = columns.map((_, column) => Math.max(...table.map((row) => widthOf(row[column] ?? ''))));
  const available = (stdout.isTTY && stdout.columns) || Number.POSITIVE_INFINITY;
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - available;
  for (const [column, { least }] of [...columns.entries()].reverse()) {
    const width = widths[column] ?? 0;
    const by = Math.max(0, Math.min(excess, width - (least ?? width)));
    widths[column] = width - by;
    excess -= by;
  }
  // A line that wraps is worse than a short title.
  const last = widths.length - 1;
  if (excess > 0) widths[last] = Math.max(1, (widths[last] ?? 0) - excess);
  return table.map((row) =>
    row
      .map((cell, column) => fit(cell, widths[column] ?? 0, columns[column]?.cut))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

function fit(cell: string, width: number, cut: Column['cut']): string {
  if (widthOf(cell) <= width) return cell + ' '.repeat(width - widthOf(cell));
  const characters = split(cell);
  while (widthOf(characters.join('')) > width - 1) characters[cut === 'start' ? 'shift' : 'pop']();
  const rest = characters.join('');
  const filled = ' '.repeat(Math.max(0, width - 1 - widthOf(rest)));
  return cut === 'start' ? `…${rest}${filled}` : `${rest}…${filled}`;
}

const SEGMENTER = new Intl.Segmenter();
const split = (text: string): string[] => Array.from(SEGMENTER.segment(text), ({ segment }) => segment);

/** What terminals show in two cells: East Asian scripts and forms, and most emoji. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.*\ufe0f)/u;

/** Cells of a terminal. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return split(text).reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}
