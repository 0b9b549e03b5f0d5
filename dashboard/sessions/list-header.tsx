import { ArrowDown, ArrowUp } from 'lucide-react';
import type { Order } from '../../contract/names.ts';
import type { SessionSearch } from '../app/queries.ts';
import { type Column, FAILED, FIGURE, LINE, MAIN, TITLE, WHERE } from './columns.tsx';

interface Props {
  columns: readonly Column[];
  search: SessionSearch;
  /** The list is sorted by a column rather than by relevance. */
  isOrdered: boolean;
  onOrder: (change: Pick<SessionSearch, 'order' | 'direction'>) => void;
}

/** The names of the columns. Columns that the service can sort by are buttons. */
export function ListHeader({ columns, search, isOrdered, onOrder }: Props) {
  const { order = 'started', direction } = search;
  const choose = (wanted: Order) =>
    onOrder({
      order: wanted === 'started' ? undefined : wanted,
      direction: wanted === order && direction === undefined ? 'asc' : undefined,
    });
  const head = ({ label, width, begins, order: by }: Column) => (
    <span
      key={label}
      role="columnheader"
      className={FIGURE}
      data-begins={begins}
      style={{ width: label === FAILED.label ? undefined : width }}
      aria-sort={isOrdered && by === order ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}
    >
      {by ? (
        <button
          type="button"
          className="-mr-1 inline-flex h-6 cursor-pointer items-center gap-0.5 rounded-sm px-1 hover:text-text data-on:font-semibold data-on:text-text"
          onClick={() => choose(by)}
          data-on={(isOrdered && by === order) || undefined}
        >
          {isOrdered &&
            by === order &&
            (direction === 'asc' ? <ArrowUp size={12} aria-hidden /> : <ArrowDown size={12} aria-hidden />)}
          {label}
        </button>
      ) : (
        label
      )}
    </span>
  );
  return (
    <div
      role="row"
      aria-rowindex={1}
      className={`${LINE} h-[calc(var(--list-head)-1px)] items-center text-12/5 text-muted`}
    >
      <span role="columnheader" className="w-4 flex-none">
        <span className="sr-only">Status</span>
      </span>
      <span role="presentation" className={MAIN}>
        <span role="presentation" className={`${TITLE} items-center justify-between`}>
          <span role="columnheader">Session</span>
          <span role="presentation" className="ml-auto flex-none">
            {head(FAILED)}
          </span>
        </span>
        <span className={WHERE} aria-hidden />
      </span>
      {columns.map((column) => head(column))}
      <span role="columnheader" className="w-7 flex-none">
        <span className="sr-only">More</span>
      </span>
    </div>
  );
}
