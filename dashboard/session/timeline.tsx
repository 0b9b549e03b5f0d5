import type { Virtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import {
  type Ref,
  useCallback,
  useDeferredValue,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useDensity } from '../kit/appearance.ts';
import { Button } from '../kit/button.tsx';
import { formatCount } from '../kit/format.ts';
import { pixels } from '../kit/pixels.ts';
import { Scroll } from '../kit/scroll.tsx';
import { useVirtualList } from '../kit/use-virtual-list.ts';
import { estimateRow } from './estimate.ts';
import type { Row } from './model/rows.ts';
import { useReading } from './reading.ts';
import { RowLine } from './row.tsx';
import { useMarks } from './use-marks.ts';
import type { View } from './use-view.ts';

export interface TimelineHandle {
  /** Brings a row into sight; `center` also when it is in sight already. `focus` also gives it the focus. */
  show(key: string, align: 'auto' | 'center', focus: boolean): void;
}

interface Props {
  ref: Ref<TimelineHandle>;
  view: View;
  sessionId: string;
  eventCount: number;
  /** How many events there were when the page was opened. */
  openedWith: number;
  /** More events may come: an end in sight is followed. */
  isActive: boolean;
  /** An agent is at work: a call without a result is running. */
  isLive: boolean;
  /** A range of rows is marked: the others stand back. */
  hasRange: boolean;
  onSelect: (row: Row, extend: boolean) => void;
}

type List = Virtualizer<HTMLElement, HTMLLIElement>;

/** A row that is being scrolled to. The scroll goes by place, and takes some frames: rows may come in before it. */
interface Wanted {
  key: string;
  align: 'auto' | 'center';
  until: number;
}

const SETTLING_MS = 1_000;

/** As far from the end one is still at the end. */
const END_PX = 120;
/** At so many pixels a millisecond a screen is gone in a third of a second: nobody reads. */
const HURRIED = 3;

/**
 * The rows in sight of a list of any length; what is read stays where it is when rows are added before it. It begins at
 * its top, and follows the end only after the reader went there: a short list is at its top and its end at once.
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
}: Props) {
  const { rows, indexOf } = view;
  const { current, seen } = useReading();
  const scroller = useRef<HTMLElement>(null);
  const focusWanted = useRef<string>(undefined);
  useMarks(scroller);
  const [density] = useDensity();
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

  const drawnWith = useRef(density);
  useLayoutEffect(() => {
    if (drawnWith.current === density) return;
    drawnWith.current = density;
    for (const row of rows) delete row.height;
    virtualizer.measure();
    // Of rows that are as high as before the browser says nothing: they would stay as high as expected.
    for (const row of virtualizer.elementsCache.values()) {
      // By this the list notices what it expects by now, with which the height is compared.
      virtualizer.getTotalSize();
      virtualizer.resizeItem(virtualizer.indexFromElement(row), row.getBoundingClientRect().height);
    }
  }, [density, rows, virtualizer]);

  // A jump to a row is none: it comes after a rest. What rows are in full is drawn when there is time.
  const isPassing = virtualizer.isScrolling && isHurried.current;
  const isBrief = useDeferredValue(isPassing) || isPassing;

  const scrollTo = ({ key, align }: Pick<Wanted, 'key' | 'align'>) => {
    const index = indexOf(key);
    if (index >= 0) virtualizer.scrollToIndex(index, { align });
  };
  const wanted = useRef<Wanted>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when rows came or went
  useLayoutEffect(() => {
    // Where another row is the current one by now, the next one is on its way there.
    const { key, until = 0 } = wanted.current ?? {};
    if (wanted.current && performance.now() < until && key === current.get()?.key) scrollTo(wanted.current);
    seen.set(rangeOf(virtualizer, rows, seen.get()));
  }, [rows]);

  useImperativeHandle(ref, () => ({
    show(key, align, focus) {
      // What comes behind the last one is followed: back to that one, and nothing more would be.
      const isFollowed = isActive && indexOf(key) === rows.length - 1;
      wanted.current = isFollowed ? undefined : { key, align, until: performance.now() + SETTLING_MS };
      if (focus) focusWanted.current = key;
      scrollTo({ key, align });
      giveFocus();
    },
  }));

  /** As soon as the row is drawn. */
  const giveFocus = () => {
    const key = focusWanted.current;
    const index = key === undefined ? -1 : indexOf(key);
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    if (!row || current.get()?.key !== key) return;
    focusWanted.current = undefined;
    row.focus({ preventScroll: true });
  };
  useEffect(giveFocus);

  // Come back to, it begins where it was left.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it comes
  useLayoutEffect(() => {
    const key = current.get()?.key;
    if (key === undefined) return;
    wanted.current = { key, align: 'center', until: performance.now() + SETTLING_MS };
    requestAnimationFrame(() => scrollTo({ key, align: 'center' }));
  }, []);

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

/** The one before where it is the same: nobody is told then. */
function rangeOf({ range }: List, rows: readonly Row[], before: Range): Range {
  const from = rows[range?.startIndex ?? 0]?.item.order ?? 0;
  const to = rows[range?.endIndex ?? 0]?.item.order ?? 0;
  return before.from === from && before.to === to ? before : { from, to };
}

/** Whether the end is in sight, and how many events came since it last was. */
function useEnd(list: List, eventCount: number, openedWith: number) {
  const [counted, setCounted] = useState(openedWith);
  const height = list.scrollRect?.height ?? 0;
  const isAtEnd = height === 0 || list.getTotalSize() - height - (list.scrollOffset ?? 0) <= END_PX;
  useEffect(() => {
    if (isAtEnd) setCounted((before) => Math.max(before, eventCount));
  }, [isAtEnd, eventCount]);
  return { isAtEnd, unseen: Math.max(0, eventCount - counted) };
}
