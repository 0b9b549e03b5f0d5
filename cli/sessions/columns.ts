import type { Context } from '../context.ts';
import { toPlainText } from '../terminal.ts';

/** Rows with their columns under each other, cut to the width of a terminal; into a file or a pipe everything goes. */
export function alignColumns(rows: readonly (readonly string[])[], { stdout }: Pick<Context, 'stdout'>): string[] {
  const width = (stdout.isTTY && stdout.columns) || Number.POSITIVE_INFINITY;
  const plain = rows.map((row) => row.map((cell) => toPlainText(cell).replaceAll(/[\n\t]/g, ' ')));
  const columns = Math.max(0, ...plain.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...plain.map((row) => row[column]?.length ?? 0)),
  );
  const lines = plain.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => cut(line.trimEnd(), width));
}

const cut = (line: string, width: number): string => (line.length > width ? `${line.slice(0, width - 1)}…` : line);
