import { useRouter } from '@tanstack/react-router';
import {
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { useHistoryEntry } from '../app/history-entry.ts';
import type { SessionRow, SessionSearch } from '../app/queries.ts';
import { useLinks } from '../app/use-links.ts';
import { isFocusFree } from '../frame/heading.tsx';
import { formatDay } from '../kit/format.ts';
import { createKept } from '../kit/kept.ts';
import { pixels } from '../kit/pixels.ts';
import { useNow } from '../kit/time.tsx';
import { useWidth } from '../kit/use-width.ts';
import { useMachineNames } from '../shared/group-names.ts';
import { useOwnerOf } from '../shared/person-name.tsx';
import { columnsFor, NARROW } from './columns.tsx';
import { ListHeader } from './list-header.tsx';
import { SessionLine } from './session-line.tsx';
import { useListKeys } from './use-list-keys.ts';
import { useListLines } from './use-list-lines.ts';

interface Props {
  rows: readonly SessionRow[];
  search: SessionSearch;
  /** The list is sorted by a column rather than by relevance. */
  isOrdered: boolean;
  addressOf: (sessionId: string, sequence?: number) => string;
  previewed: string | undefined;
  onPreview: (sessionId: string | undefined) => void;
  onOrder: (change: Pick<SessionSearch, 'order' | 'direction'>) => void;
  /** Called when the last rows are visible. */
  onEnd: () => void;
  hasMore: boolean;
  menu: (row: SessionRow, isCurrent: boolean) => ReactNode;
}

/** A list of sessions that only draws the visible rows. */
export function SessionList(props: Props) {
  const { rows, search, isOrdered, addressOf, previewed, onPreview, onOrder, onEnd, hasMore, menu } = props;
  const grid = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [measure, width] = useWidth();
  const machines = useMachineNames();
  const ownerOf = useOwnerOf();
  const router = useRouter();
  const followLink = useLinks();
  /** The session of the row that has the focus or would get it. */
  const [current, setCurrent] = useLastRow(grid);
  const isNarrow = width > 0 && width < NARROW;
  const columns = useMemo(() => columnsFor(width, search.order), [width, search.order]);
  const isByTime = search.order === undefined && isOrdered;
  const base = pixels(isNarrow ? '--list-row-narrow' : '--list-row');
  const at = rows.findIndex(({ session }) => session.sessionId === current);
  // The row after a deleted one takes its place.
  const next = useRef<string>(undefined);
  if (at >= 0) next.current = rows[at + 1]?.session.sessionId;
  const stop = Math.max(0, at >= 0 ? at : rows.findIndex(({ session }) => session.sessionId === next.current));

  const { lines, lineOf, virtualizer, items } = useListLines({
    rows,
    isByTime,
    base,
    grid,
    body,
    stop,
    hasMore,
    onEnd,
  });

  const focus = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (!row) return;
    const { sessionId } = row.session;
    // Synchronously, so that the next key finds the focus there. The current row is always drawn.
    flushSync(() => setCurrent(sessionId));
    virtualizer.scrollToIndex(lineOf[rows.indexOf(row)] ?? 0, { align: 'auto' });
    const selector = `[data-session="${CSS.escape(sessionId)}"]`;
    grid.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
    if (previewed !== undefined) onPreview(sessionId);
  };
  const open = (sessionId: string) => router.history.push(addressOf(sessionId));
  const page = Math.max(1, Math.floor((virtualizer.scrollRect?.height ?? 600) / base) - 2);
  const onKey = useListKeys({ grid, rowCount: rows.length, stop, current, page, focus, open, previewed, onPreview });
  const sessionAt = (target: EventTarget) =>
    target instanceof Element ? target.closest<HTMLElement>('[data-session]')?.dataset.session : undefined;
  const onClick = (event: MouseEvent<HTMLElement>) => {
    followLink(event);
    const target = event.target as Element;
    const sessionId = sessionAt(target);
    // React also passes on clicks in a row's menu, although the menu is elsewhere in the document.
    if (sessionId && event.currentTarget.contains(target) && !target.closest('a, button')) open(sessionId);
  };

  return (
    <div ref={measure} className="min-w-0">
      <div
        ref={grid}
        role="grid"
        aria-label="Sessions"
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        data-scrolling={virtualizer.isScrolling || undefined}
        onKeyDown={onKey}
        onClick={onClick}
        onFocus={({ target }) => {
          const sessionId = sessionAt(target);
          if (sessionId && sessionId !== current) setCurrent(sessionId);
        }}
      >
        {!isNarrow && (
          <div role="rowgroup" className="sticky top-0 z-2 border-b border-line bg-surface">
            <ListHeader columns={columns} search={search} isOrdered={isOrdered} onOrder={onOrder} />
          </div>
        )}
        <div role="rowgroup" ref={body} className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start, size }) => {
            const top = start - virtualizer.options.scrollMargin;
            const line = lines[index];
            if (typeof line === 'string') return <DayHead key={line} day={line} top={top} />;
            const row = rows[line ?? -1];
            if (!row || line === undefined) return undefined;
            const { sessionId, environmentId } = row.session;
            return (
              <SessionLine
                key={sessionId}
                row={row}
                index={line}
                machine={machines.get(environmentId) ?? ''}
                owner={ownerOf(row.summary)}
                columns={columns}
                isNarrow={isNarrow}
                isBelowDay={isByTime}
                isCurrent={line === stop}
                isPreviewed={sessionId === previewed}
                addressOf={addressOf}
                menu={menu}
                top={top}
                height={size}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function DayHead({ day, top }: { day: string; top: number }) {
  const now = useNow();
  return (
    <div
      role="row"
      className="absolute inset-x-0 top-0 h-(--list-day) border-line border-b px-2 pt-3 text-12/5 text-muted"
      data-day={day}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="gridcell">{formatDay(day, now)}</span>
    </div>
  );
}

/** Enough for all lists that Back leads to. */
const MAX_ENTRIES = 50;
/** The session of the row that had the focus, by the list's entry in the browser's history. */
const lastRows = createKept('rows', MAX_ENTRIES, (value): value is string => typeof value === 'string');

/** The session of the current row. A list that the reader comes back to gives the focus to its row from before. */
function useLastRow(grid: RefObject<HTMLElement | null>) {
  const entryOf = useHistoryEntry();
  const [current, setCurrent] = useState(() => lastRows.read(entryOf()));
  const returned = useRef(current);
  // After each drawing, because the list draws no row before it knows its height.
  useEffect(() => {
    if (returned.current === undefined) return;
    const row = grid.current?.querySelector<HTMLElement>(`[data-session="${CSS.escape(returned.current)}"]`);
    if (!isFocusFree()) returned.current = undefined;
    else row?.focus({ preventScroll: true });
  });
  const set = useCallback(
    (sessionId: string) => {
      setCurrent(sessionId);
      lastRows.write(entryOf(), sessionId);
    },
    [entryOf],
  );
  return [current, set] as const;
}
