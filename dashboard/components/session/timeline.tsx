import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import {
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
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
  /** How many events there were when the page was opened. */
  openedWith: number;
  /** New events are to be followed when the reader is at the end. */
  isLive: boolean;
  onSelect: (sequence: number) => void;
  /** The order of the first and last event in sight. */
  onRange: (from: number, to: number) => void;
}

/** A row that is being scrolled to. The scroll goes by place, and takes some frames: rows may come in before it. */
interface Wanted {
  key: string;
  align: 'auto' | 'center';
  until: number;
}

const SETTLING_MS = 1_000;

/** As far from the end one is still at the end. */
const END_PX = 120;

/**
 * The rows in sight of a list of any length; what is read stays where it is when rows are added before it. It begins at
 * its top, and follows the end only after the reader went there: a short list is at its top and its end at once.
 */
export function Timeline({ ref, view, sessionId, eventCount, openedWith, isLive, onSelect, onRange }: Props) {
  const { rows, current } = view;
  const scroller = useRef<HTMLElement>(null);
  const [isAtTop, setAtTop] = useState(true);
  const currentIndex = current ? rows.indexOf(current) : -1;
  const virtualizer = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    estimateSize: (index) => estimateRow(rows[index]),
    overscan: 12,
    paddingStart: 8,
    paddingEnd: 96,
    anchorTo: isAtTop ? 'start' : 'end',
    followOnAppend: isLive && !isAtTop,
    scrollEndThreshold: END_PX,
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

  const { isAtEnd, unseen } = useEnd(scroller, eventCount, openedWith);

  return (
    <div className="relative min-h-0 min-w-0 grow">
      <Scroll
        ref={scroller}
        className="timeline"
        aria-label="Timeline"
        onScroll={({ currentTarget }) => setAtTop(currentTarget.scrollTop <= 0)}
      >
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
      {!isAtEnd && (isLive || unseen > 0) && (
        <Button
          {...(unseen > 0 && { tone: 'primary' })}
          size="small"
          className="-translate-x-1/2 absolute bottom-4 left-1/2 shadow-float"
          onClick={() => virtualizer.scrollToEnd()}
        >
          {unseen > 0 ? `${formatCount(unseen)} new` : 'Go to the end'}
          <ArrowDown size={14} aria-hidden />
        </Button>
      )}
      <p className="sr-only" aria-live="polite">
        {!isAtEnd && unseen > 0 ? `${unseen} new events below` : ''}
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
  if (from && to) onRange(from.item.order, to.item.order);
}

/** Whether the end is in sight, and how many events came since it last was. */
function useEnd(scroller: RefObject<HTMLElement | null>, eventCount: number, openedWith: number) {
  const [isAtEnd, setAtEnd] = useState(true);
  const [seen, setSeen] = useState(openedWith);
  // After each drawing: rows come, grow and are scrolled past, and only the document knows where that leads.
  useEffect(() => {
    if (!scroller.current) return;
    const { scrollHeight, clientHeight, scrollTop } = scroller.current;
    const isThere = scrollHeight - clientHeight - scrollTop <= END_PX;
    setAtEnd(isThere);
    if (isThere) setSeen((before) => Math.max(before, eventCount));
  });
  return { isAtEnd, unseen: Math.max(0, eventCount - seen) };
}
