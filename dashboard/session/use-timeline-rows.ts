import type { Virtualizer } from '@tanstack/react-virtual';
import { type Ref, type RefObject, useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react';
import { useReading } from './reading.ts';
import type { View } from './use-view.ts';

export type TimelineList = Virtualizer<HTMLElement, HTMLLIElement>;

export interface TimelineHandle {
  /** Scrolls a row into view; with `center`, even if it is visible already. With `focus`, the row also gets the focus. */
  show(key: string, align: 'auto' | 'center', focus: boolean): void;
}

/** A row that the list scrolls to. The scroll takes some frames, and rows may be added before the row meanwhile. */
interface Wanted {
  key: string;
  align: 'auto' | 'center';
  until: number;
}

const SETTLING_MS = 1_000;

interface ShownOptions {
  ref: Ref<TimelineHandle>;
  list: TimelineList;
  scroller: RefObject<HTMLElement | null>;
  view: Pick<View, 'rows' | 'indexOf'>;
  isActive: boolean;
}

/** Scrolls a row into view on request, and keeps it there while rows are added before it. */
export function useShownRow({ ref, list, scroller, view: { rows, indexOf }, isActive }: ShownOptions): void {
  const { current } = useReading();
  const wanted = useRef<Wanted>(undefined);
  const focusWanted = useRef<string>(undefined);

  const scrollTo = ({ key, align }: Pick<Wanted, 'key' | 'align'>) => {
    const index = indexOf(key);
    if (index >= 0) list.scrollToIndex(index, { align });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when rows are added or removed
  useLayoutEffect(() => {
    // If another row is the current one by now, the next request scrolls to it.
    const { key, until = 0 } = wanted.current ?? {};
    if (wanted.current && performance.now() < until && key === current.get()?.key) scrollTo(wanted.current);
  }, [rows]);

  useImperativeHandle(ref, () => ({
    show(key, align, focus) {
      // At the last row, the list follows new rows. Scrolling back to this row would stop that.
      const isFollowed = isActive && indexOf(key) === rows.length - 1;
      wanted.current = isFollowed ? undefined : { key, align, until: performance.now() + SETTLING_MS };
      if (focus) focusWanted.current = key;
      scrollTo({ key, align });
      giveFocus();
    },
  }));

  /** Focuses the requested row as soon as it is drawn. */
  const giveFocus = () => {
    const key = focusWanted.current;
    const index = key === undefined ? -1 : indexOf(key);
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    if (!row || current.get()?.key !== key) return;
    focusWanted.current = undefined;
    row.focus({ preventScroll: true });
  };
  useEffect(giveFocus);

  // A timeline that is shown again starts where the reader left it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it is mounted
  useLayoutEffect(() => {
    const key = current.get()?.key;
    if (key === undefined) return;
    wanted.current = { key, align: 'center', until: performance.now() + SETTLING_MS };
    requestAnimationFrame(() => scrollTo({ key, align: 'center' }));
  }, []);
}
