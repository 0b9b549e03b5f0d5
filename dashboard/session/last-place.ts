import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { useHistoryEntry } from '../app/history-entry.ts';
import { createKept } from '../kit/kept.ts';
import { useReading } from './reading.ts';
import type { TimelineList } from './use-timeline-rows.ts';
import type { View } from './use-view.ts';

/** Where a reader stopped scrolling. */
export interface LastPlace {
  /** The first visible row; its order finds the place if the row is hidden by now. */
  key: string;
  order: number;
  /** How many pixels of the row are above the visible part. */
  above: number;
  /** The entry of the browser's history. */
  entry: string;
}

const isPlace = (value: unknown): value is LastPlace => {
  const { key, order, above, entry } = (value ?? {}) as Partial<LastPlace>;
  return typeof key === 'string' && Number.isFinite(order) && Number.isFinite(above) && typeof entry === 'string';
};

/** Enough for the sessions of some weeks. */
const MAX_SESSIONS = 200;
export const lastPlaces = createKept('places', MAX_SESSIONS, isPlace);

/** A place is stored when the reader has stopped for this long. */
const REST_MS = 250;
/** Rows that were never drawn have an estimated height. After so many frames, those around the place are measured. */
const FRAMES = 20;
const INPUTS = ['wheel', 'pointerdown', 'keydown', 'touchstart'] as const;

interface Options {
  sessionId: string;
  list: TimelineList;
  scroller: RefObject<HTMLElement | null>;
  view: Pick<View, 'rows' | 'indexOf'>;
  /** The place to return to, until the reader moves. */
  place: RefObject<LastPlace | undefined>;
  /** All rows are there. */
  isComplete: boolean;
}

/** Stores where the reader stops, and scrolls there once the rows are there. */
export function useLastPlace({ sessionId, list, scroller, view, place, isComplete }: Options): void {
  const { rows, indexOf } = view;
  const entryOf = useHistoryEntry();
  const latest = useRef(view);
  latest.current = view;
  const { current } = useReading();
  /** The reader has moved, or was brought to the place. A timeline that is shown again scrolls to the current row instead. */
  const isSettled = useRef(place.current === undefined || current.get() !== undefined);

  useEffect(() => {
    const leave = () => {
      isSettled.current = true;
    };
    for (const input of INPUTS) window.addEventListener(input, leave, { capture: true, passive: true });
    return () => {
      for (const input of INPUTS) window.removeEventListener(input, leave, { capture: true });
    };
  }, []);

  useLayoutEffect(() => {
    const wanted = place.current;
    if (isSettled.current || !wanted || rows.length === 0) return;
    if (indexOf(wanted.key) < 0 && !isComplete) return;
    isSettled.current = true;
    const cancelled = new AbortController();
    for (const input of INPUTS) {
      window.addEventListener(input, () => cancelled.abort(), { signal: cancelled.signal, capture: true });
    }
    const scroll = (frames: number) => {
      if (cancelled.signal.aborted) return;
      list.scrollToOffset(offsetOf(wanted, latest.current, list));
      if (frames > 0) requestAnimationFrame(() => scroll(frames - 1));
      else cancelled.abort();
    };
    scroll(FRAMES);
  }, [rows, indexOf, isComplete, list, place]);

  useEffect(() => {
    const area = scroller.current;
    if (!area) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const write = () => {
      clearTimeout(timer);
      timer = undefined;
      lastPlaces.write(sessionId, place.current);
    };
    const note = () => {
      if (!isSettled.current) return;
      const first = list.getVirtualItemForOffset(area.scrollTop);
      const row = latest.current.rows[first?.index ?? -1];
      if (!first || !row) return;
      const { key, item } = row;
      const above = area.scrollTop - first.start;
      // A reader at the top needs no place: every session begins there.
      place.current = area.scrollTop <= 0 ? undefined : { key, order: item.order, above, entry: entryOf() };
      clearTimeout(timer);
      timer = setTimeout(write, REST_MS);
    };
    const flush = () => {
      if (timer !== undefined) write();
    };
    area.addEventListener('scroll', note, { passive: true });
    window.addEventListener('pagehide', flush);
    return () => {
      area.removeEventListener('scroll', note);
      window.removeEventListener('pagehide', flush);
      flush();
    };
  }, [sessionId, list, scroller, place, entryOf]);
}

function offsetOf({ key, order, above }: LastPlace, { rows, indexOf }: Options['view'], list: TimelineList): number {
  const index = indexOf(key);
  const nearest =
    index >= 0
      ? index
      : Math.max(
          0,
          rows.findLastIndex(({ item }) => item.order <= order),
        );
  // Makes the list compute its current measurements.
  list.getTotalSize();
  const { start = 0, size = 0 } = list.measurementsCache[nearest] ?? {};
  return start + (index >= 0 ? Math.min(above, size) : 0);
}
