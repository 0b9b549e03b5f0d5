import { ArrowDown, ArrowUp } from 'lucide-react';
import type { SessionSearch } from '../app/queries.ts';
import type { Order } from '../app/search.ts';
import type { Column } from './columns.tsx';

interface Props {
  columns: readonly Column[];
  search: SessionSearch;
  onOrder: (change: Pick<SessionSearch, 'order' | 'direction'>) => void;
}

/** Names of the columns; those that the service can order by are buttons. */
export function ListHeader({ columns, search, onOrder }: Props) {
  const { order = 'started', direction } = search;
  const choose = (wanted: Order) =>
    onOrder({
      order: wanted === 'started' ? undefined : wanted,
      direction: wanted === order && direction === undefined ? 'asc' : undefined,
    });
  return (
    <div role="row" aria-rowindex={1} className="session-cells session-head">
      <span role="columnheader" className="w-4 flex-none">
        <span className="sr-only">Status</span>
      </span>
      <span role="columnheader" className="grow">
        Session
      </span>
      {columns.map(({ label, width, order: by }) => (
        <span
          key={label}
          role="columnheader"
          className="session-figure"
          style={{ width }}
          aria-sort={by === order ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}
        >
          {by ? (
            <button
              type="button"
              className="session-order"
              onClick={() => choose(by)}
              data-on={by === order || undefined}
            >
              {by === order &&
                (direction === 'asc' ? <ArrowUp size={12} aria-hidden /> : <ArrowDown size={12} aria-hidden />)}
              {label}
            </button>
          ) : (
            label
          )}
        </span>
      ))}
      <span role="columnheader" className="w-7 flex-none">
        <span className="sr-only">More</span>
      </span>
    </div>
  );
}
