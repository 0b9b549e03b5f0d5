import type { ReactNode } from 'react';
import { usePart } from './more.tsx';
import { Scroll } from './scroll.tsx';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
  isMuted?: boolean;
  /** Long words take more lines, so that the columns behind stay in sight. */
  wraps?: boolean;
  /** What it says on a phone, where the heads are out of sight. */
  label?: string;
  /** What a hover over the head says. */
  explain?: string;
  /** Buttons, at the end of the line: the head is for readers of the screen alone. */
  isActions?: boolean;
}

interface Props<Row> {
  /** What the table holds. */
  name: string;
  /** The first one names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  isMuted?: (row: Row) => boolean;
  /** More rows below, whose first column has another head. */
  below?: { head: string; rows: readonly Row[] };
  /** As high as that, and scrolls; on a phone rows keep their columns. */
  isLong?: boolean;
  /** All rows are drawn at once, because they already come a part at a time. */
  isWhole?: boolean;
}

/** So many rows are drawn at once. */
export const FIRST_ROWS = 60;

/**
 * Rows with columns, of many the first. On a phone a row is a few lines. The hours of a week, the bars of tools, the two sides
 * of a comparison and the lines of a diff are drawn by themselves: their cells make one picture, which keeps its columns.
 */
export function Table<Row>({ name, columns, rows, keyOf, isMuted, below, isLong, isWhole }: Props<Row>) {
  const first = usePart(rows, isWhole ? Number.POSITIVE_INFINITY : FIRST_ROWS);
  const second = usePart(below?.rows ?? NONE, FIRST_ROWS);
  const body = (shown: readonly Row[]) => (
    <tbody>
      {shown.map((row) => (
        <tr key={keyOf(row)} className={isMuted?.(row) ? 'text-muted' : undefined}>
          {columns.map((column, at) => (
            <Cell key={column.head} column={column} row={row} isName={at === 0} />
          ))}
        </tr>
      ))}
    </tbody>
  );
  return (
    <Scroll aria-label={name} className={isLong ? 'relative max-h-[560px] overflow-auto' : 'relative overflow-x-auto'}>
      <table className={isLong ? 'table' : 'table table-lines'}>
        <Head columns={columns} />
        {body(first.part)}
        {/* What is below comes once there is nothing left above it. */}
        {below && !first.more && <Head columns={columns} first={below.head} />}
        {below && !first.more && body(second.part)}
      </table>
      {first.more ?? second.more}
    </Scroll>
  );
}

const NONE: readonly never[] = [];

function Head<Row>({ columns, first }: { columns: readonly Column<Row>[]; first?: string }) {
  return (
    <thead>
      <tr>
        {columns.map(({ head, isNumber, explain, isActions }, at) => (
          <th key={head} scope="col" data-number={isNumber} title={explain}>
            {isActions ? <span className="sr-only">{head}</span> : at === 0 ? (first ?? head) : head}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Cell<Row>({ column, row, isName }: { column: Column<Row>; row: Row; isName: boolean }) {
  const { cell, isNumber, isMuted, wraps, label, isActions } = column;
  if (isName) {
    return (
      <th scope="row" data-wraps={wraps}>
        {cell(row)}
      </th>
    );
  }
  return (
    <td
      data-label={label}
      data-number={isNumber}
      data-wraps={wraps}
      className={isActions ? 'table-actions' : isMuted ? 'text-muted' : undefined}
    >
      {cell(row)}
    </td>
  );
}
