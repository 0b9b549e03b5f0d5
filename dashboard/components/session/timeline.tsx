import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { type Ref, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import type { Row } from '../../timeline/rows.ts';
import { Button } from '../../ui/button.tsx';
import { formatCount } from '../../ui/format.ts';
import { Scroll } from '../../ui/scroll.tsx';
import { estimateRow, RowContent } from './row.tsx';
import type { View } from './use-view.ts';

export interface TimelineHandle {
  /** Brings a row into sight; `center` also when it is in sight already. */
  show(key: string, align: 'auto' | 'center'): void;
  focusCurrent(): void;
}

interface Props {
  ref: Ref<TimelineHandle>;
  view: View;
  sessionId: string;
  eventCount: number;
  /** New events are to be followed when the reader is at the end. */
  isLive: boolean;
  onSelect: (sequence: number) => void;
  /** The first and last event in sight. */
  onRange: (from: number, to: number) => void;
}

/** A row that is being scrolled to. The scroll goes by place, and takes some frames: rows may come in before it. */
interface Wanted {
  key: string;
  align: 'auto' | 'center';
  until: number;
}

const SETTLING_MS = 1_000;

/** The rows in sight of a list of any length; what is read stays where it is when rows are added before it. */
export function Timeline({ ref, view, sessionId, eventCount, isLive, onSelect, onRange }: Props) {
  const { rows, current } = view;
  const scroller = useRef<HTMLElement>(null);
  const currentIndex = current ? rows.indexOf(current) : -1;
  const virtualizer = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    estimateSize: (index) => estimateRow(rows[index]),
    overscan: 12,
    paddingStart: 8,
    paddingEnd: 96,
    anchorTo: 'end',
    followOnAppend: isLive,
    scrollEndThreshold: 120,
    // The focused row stays in the document, or the focus would be lost with it.
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), currentIndex),
    onChange: (instance) => report(instance, rows, onRange),
  });

  const scrollTo = ({ key, align }: Pick<Wanted, 'key' | 'align'>) => {
    const index = rows.findIndex((row) => row.key === key);
    if (index >= 0) virtualizer.scrollToIndex(index, { align });
  };
  const wanted = useRef<Wanted>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when rows came or went
  useLayoutEffect(() => {
    if (wanted.current && performance.now() < wanted.current.until) scrollTo(wanted.current);
  }, [rows]);

  useImperativeHandle(ref, () => ({
    show(key, align) {
      wanted.current = { key, align, until: performance.now() + SETTLING_MS };
      scrollTo(wanted.current);
    },
    focusCurrent() {
      scroller.current?.querySelector<HTMLElement>('[data-current]')?.focus({ preventScroll: true });
    },
  }));

  const atEnd = virtualizer.isAtEnd(120);
  const unseen = useUnseen(eventCount, atEnd);

  return (
    <div className="relative min-h-0 min-w-0 grow">
      <Scroll ref={scroller} className="timeline" aria-label="Timeline">
        <ul className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => {
            const row = rows[index];
            if (!row) return null;
            const isCurrent = row === current;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the page's keys move between rows
              <li
                key={key}
                ref={virtualizer.measureElement}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                data-index={index}
                data-current={isCurrent || undefined}
                tabIndex={isCurrent ? 0 : -1}
                className="timeline-row"
                style={{ transform: `translateY(${start}px)` }}
                onClick={(event) => !isControl(event.target) && onSelect(row.item.sequence)}
              >
                <RowContent row={row} view={view} sessionId={sessionId} isLive={isLive} onSelect={onSelect} />
              </li>
            );
          })}
        </ul>
      </Scroll>
      {isLive && unseen > 0 && (
        <Button
          tone="primary"
          size="small"
          className="-translate-x-1/2 absolute bottom-4 left-1/2 shadow-float"
          onClick={() => virtualizer.scrollToEnd()}
        >
          {formatCount(unseen)} new
          <ArrowDown size={14} aria-hidden />
        </Button>
      )}
      <p className="sr-only" aria-live="polite">
        {isLive && unseen > 0 ? `${unseen} new events below` : ''}
      </p>
    </div>
  );
}

/** A click on these does what they say; selecting text is not a click either. */
function isControl(target: EventTarget): boolean {
  if (window.getSelection()?.isCollapsed === false) return true;
  return target instanceof Element && target.closest('a, button, pre, input') !== null;
}

function withIndex(indexes: number[], index: number): number[] {
  if (index < 0 || indexes.includes(index)) return indexes;
  return index < (indexes[0] ?? 0) ? [index, ...indexes] : [...indexes, index];
}

function report(
  { range }: Virtualizer<HTMLElement, HTMLLIElement>,
  rows: readonly Row[],
  onRange: (from: number, to: number) => void,
): void {
  const [from, to] = [rows[range?.startIndex ?? 0], rows[range?.endIndex ?? 0]];
  if (from && to) onRange(from.item.sequence, to.item.sequence);
}

/** How many events came since the reader was last at the end. */
function useUnseen(eventCount: number, atEnd: boolean): number {
  const [seen, setSeen] = useState(eventCount);
  useEffect(() => {
    if (atEnd) setSeen(eventCount);
  }, [atEnd, eventCount]);
  return Math.max(0, eventCount - seen);
}
