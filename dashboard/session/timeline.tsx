import { ArrowDown } from 'lucide-react';
import {
  type Ref,
  type RefObject,
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Button } from '../kit/button.tsx';
import { formatCount } from '../kit/format.ts';
import { pixels } from '../kit/pixels.ts';
import { Scroll } from '../kit/scroll.tsx';
import { useVirtualList } from '../kit/use-virtual-list.ts';
import { estimateRow } from './estimate.ts';
import { type LastPlace, useLastPlace } from './last-place.ts';
import type { Row } from './model/rows.ts';
import { useReading } from './reading.ts';
import { RowLine } from './row.tsx';
import { useMarks } from './use-marks.ts';
import { type TimelineHandle, type TimelineList, useShownRow } from './use-timeline-rows.ts';
import type { View } from './use-view.ts';

interface Props {
  ref: Ref<TimelineHandle>;
  view: View;
  sessionId: string;
  eventCount: number;
  /** The number of events when the page was opened. */
  openedWith: number;
  /** More events may come, so the timeline follows its end while that is visible. */
  isActive: boolean;
  /** An agent is working, so a call without a result is running. */
  isLive: boolean;
  /** A range of rows is marked; the others are dimmed. */
  hasRange: boolean;
  onSelect: (row: Row, extend: boolean) => void;
  /** Where the reader stopped. */
  place: RefObject<LastPlace | undefined>;
  isComplete: boolean;
}

/** Within this distance from the end, the reader counts as at the end. */
const END_PX = 120;
/** In pixels per millisecond. At this speed, a screen passes in a third of a second, and nobody reads. */
const HURRIED = 3;

/**
 * Renders the visible rows of a list of any length. Rows stay in place when others are added before them. The list begins
 * at its top, and follows its end only after the reader went there, since a short list is at its top and its end at once.
 */
export function Timeline({
  ref,
  view,
  sessionId,
  eventCount,
  openedWith,
  isActive,
  isLive,
  hasRange,
  onSelect,
  place,
  isComplete,
}: Props) {
  const { rows, indexOf } = view;
  const { current, seen } = useReading();
  const scroller = useRef<HTMLElement>(null);
  useMarks(scroller);
  const width = useRef(900);
  const offset = useRef(0);
  const isHurried = useRef(false);
  const moved = useRef(0);
  const virtualizer = useVirtualList<HTMLElement, HTMLLIElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    estimateSize: (index) => estimateRow(rows[index], width.current),
    overscan: 4,
    paddingStart: 8,
    paddingEnd: 96,
    scrollPaddingStart: pixels('--turn-head') + 4,
    scrollPaddingEnd: 16,
    anchorTo: offset.current <= 0 ? 'start' : 'end',
    followOnAppend: isActive && offset.current > 0,
    scrollEndThreshold: END_PX,
    kept: () => indexOf(current.get()?.key ?? ''),
    onChange: (instance) => {
      width.current = instance.scrollRect?.width ?? width.current;
      seen.set(rangeOf(instance, rows, seen.get()));
      const { scrollOffset } = instance;
      const distance = Math.abs((scrollOffset ?? 0) - offset.current);
      if (distance === 0 && instance.isScrolling) return;
      const now = performance.now();
      isHurried.current = instance.isScrolling && distance > HURRIED * (now - moved.current);
      offset.current = scrollOffset ?? 0;
      moved.current = now;
    },
  });

  // A jump to a row does not count as fast scrolling, since it follows a rest. Full rows are drawn when there is time.
  const isPassing = virtualizer.isScrolling && isHurried.current;
  const isBrief = useDeferredValue(isPassing) || isPassing;

  useShownRow({ ref, list: virtualizer, scroller, view, isActive });
  useLastPlace({ sessionId, list: virtualizer, scroller, view, place, isComplete });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when rows are added or removed
  useLayoutEffect(() => seen.set(rangeOf(virtualizer, rows, seen.get())), [rows]);

  const { isAtEnd, unseen } = useEnd(virtualizer, eventCount, openedWith);

  return (
    <div className="relative min-h-0 min-w-0 grow">
      <Scroll
        ref={scroller}
        id="timeline"
        className="timeline"
        aria-label="Timeline"
        data-range={hasRange || undefined}
      >
        <ul className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ key, index, start, size }) => {
            const row = rows[index];
            return (
              row && (
                <RowLine
                  key={key}
                  measure={virtualizer.measureElement}
                  row={row}
                  index={index}
                  count={rows.length}
                  start={start}
                  toggle={view.toggle}
                  sessionId={sessionId}
                  isLive={isLive}
                  isPassing={isBrief}
                  height={isBrief ? size : 0}
                  onSelect={onSelect}
                />
              )
            );
          })}
        </ul>
      </Scroll>
      {!isAtEnd && (isActive || unseen > 0) && (
        <Button
          {...(unseen > 0 ? { tone: 'primary' } : { icon: true, 'aria-label': 'Go to the end' })}
          size="small"
          className="absolute right-4 bottom-4 shadow-float"
          onClick={() => virtualizer.scrollToEnd()}
        >
          {unseen > 0 && `${formatCount(unseen)} new`}
          <ArrowDown size={14} aria-hidden />
        </Button>
      )}
      <p className="sr-only" aria-live="polite">
        {!isAtEnd && unseen > 0 ? `${unseen} new events below` : ''}
      </p>
    </div>
  );
}

type Range = { from: number; to: number };

/** The range of visible rows. An unchanged range is returned as the same object, so that no listener is called. */
function rangeOf({ range }: TimelineList, rows: readonly Row[], before: Range): Range {
  const from = rows[range?.startIndex ?? 0]?.item.order ?? 0;
  const to = rows[range?.endIndex ?? 0]?.item.order ?? 0;
  return before.from === from && before.to === to ? before : { from, to };
}

/** Whether the end is visible, and how many events were added since it was last visible. */
function useEnd(list: TimelineList, eventCount: number, openedWith: number) {
  const [counted, setCounted] = useState(openedWith);
  const height = list.scrollRect?.height ?? 0;
  const isAtEnd = height === 0 || list.getTotalSize() - height - (list.scrollOffset ?? 0) <= END_PX;
  useEffect(() => {
    if (isAtEnd) setCounted((before) => Math.max(before, eventCount));
  }, [isAtEnd, eventCount]);
  return { isAtEnd, unseen: Math.max(0, eventCount - counted) };
}
