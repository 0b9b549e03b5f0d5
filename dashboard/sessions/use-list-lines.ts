import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo } from 'react';
import type { SessionRow } from '../app/queries.ts';
import { localDay } from '../kit/format.ts';
import { pixels } from '../kit/pixels.ts';
import { useVirtualList } from '../kit/use-virtual-list.ts';

/** A line of the list: a day such as `2026-11-21` above its sessions, or the index of a row. */
type Line = string | number;

interface Options {
  rows: readonly SessionRow[];
  isByTime: boolean;
  /** The height of a row without hits, in pixels. */
  base: number;
  grid: RefObject<HTMLElement | null>;
  body: RefObject<HTMLElement | null>;
  /** The row that is always drawn. */
  stop: number;
  hasMore: boolean;
  onEnd: () => void;
}

/** The lines of the list, and the lines to draw. */
export function useListLines({ rows, isByTime, base, grid, body, stop, hasMore, onEnd }: Options) {
  const { lines, lineOf } = useMemo(() => linesOf(rows, isByTime), [rows, isByTime]);
  // With new functions at each render, the list would compute the positions of all rows again.
  const estimateSize = useCallback(
    (index: number) => {
      const line = lines[index];
      if (typeof line === 'string') return pixels('--list-day');
      const hits = rows[line ?? -1]?.hits.length ?? 0;
      return base + (hits > 0 ? hits * pixels('--list-hit') + 8 : 0);
    },
    [rows, lines, base],
  );
  const getItemKey = useCallback(
    (index: number) => {
      const line = lines[index];
      return typeof line === 'number' ? (rows[line]?.session.sessionId ?? index) : (line ?? index);
    },
    [rows, lines],
  );
  const virtualizer = useVirtualList<HTMLElement, HTMLElement>({
    count: lines.length,
    getScrollElement: () => grid.current?.closest<HTMLElement>('#page') ?? null,
    estimateSize,
    getItemKey,
    scrollMargin: body.current?.offsetTop ?? 0,
    scrollPaddingStart: pixels('--list-head'),
    overscan: 6,
    kept: () => lineOf[stop] ?? 0,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sizes depend on these
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, base, lines]);

  const items = virtualizer.getVirtualItems();
  const isAtEnd = hasMore && (items.at(-1)?.index ?? 0) >= lines.length - 10;
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, onEnd]);
  return { lines, lineOf, virtualizer, items };
}

/** @param isByTime only a list that is sorted by time has lines for days */
function linesOf(rows: readonly SessionRow[], isByTime: boolean): { lines: Line[]; lineOf: number[] } {
  const lines: Line[] = [];
  const lineOf: number[] = [];
  let last: string | undefined;
  for (const [index, { session }] of rows.entries()) {
    const day = localDay(Date.parse(session.startedAt));
    if (isByTime && day !== last) lines.push(day);
    last = day;
    lineOf.push(lines.length);
    lines.push(index);
  }
  return { lines, lineOf };
}
