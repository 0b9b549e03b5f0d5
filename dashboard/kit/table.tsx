import type { ReactNode } from 'react';
import { usePart } from './more.tsx';
import { Scroll } from './scroll.tsx';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
  isMuted?: boolean;
  /** Long text wraps, so that the following columns stay visible. */
  wraps?: boolean;
  /** The label of the cell where rows become lines and heads are hidden. */
  label?: string;
  /** The tooltip of the head. */
  explain?: string;
  /** Buttons at the end of the row. Only screen readers get the head. */
  isActions?: boolean;
}

interface Props<Row> {
  /** The name of the table. */
  name: string;
  /** The first column names the row. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  isMuted?: (row: Row) => boolean;
  /** More rows below, with another head for the first column. */
  below?: { head: string; rows: readonly Row[] };
  /** The table has a fixed height and scrolls. Rows keep their columns. */
  isLong?: boolean;
  /** All rows are drawn at once, because they are already loaded page by page. */
  isWhole?: boolean;
}

/** The number of rows drawn at first. */
export const FIRST_ROWS = 60;

/**
 * A table, of which a long one shows its first rows. Where there is little room, a row becomes a few lines. The hours of the week, the bars
 * of tools, comparisons and diffs have tables of their own, because their cells form one picture that keeps its columns.
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
    <Scroll
      aria-label={name}
      className={`table-area relative ${isLong ? 'max-h-[560px] overflow-auto' : 'overflow-x-auto'}`}
    >
      <table className={isLong ? 'table' : 'table table-lines'}>
        <Head columns={columns} />
        {body(first.part)}
        {/* The rows below follow once all rows above are shown. */}
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
