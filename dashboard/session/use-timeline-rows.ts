import type { Virtualizer } from '@tanstack/react-virtual';
import { type Ref, type RefObject, useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react';
import { useDensity } from '../kit/appearance.ts';
import type { Row } from './model/rows.ts';
import { useReading } from './reading.ts';
import type { View } from './use-view.ts';

export type TimelineList = Virtualizer<HTMLElement, HTMLLIElement>;

export interface TimelineHandle {
  /** Brings a row into sight; `center` also when it is in sight already. `focus` also gives it the focus. */
  show(key: string, align: 'auto' | 'center', focus: boolean): void;
}

/** In another density all rows are measured anew. */
export function useRemeasured(list: TimelineList, rows: readonly Row[]): void {
  const [density] = useDensity();
  const drawnWith = useRef(density);
  useLayoutEffect(() => {
    if (drawnWith.current === density) return;
    drawnWith.current = density;
    for (const row of rows) delete row.height;
    list.measure();
    // Of rows that are as high as before the browser says nothing: they would stay as high as expected.
    for (const row of list.elementsCache.values()) {
      // By this the list notices what it expects by now, with which the height is compared.
      list.getTotalSize();
      list.resizeItem(list.indexFromElement(row), row.getBoundingClientRect().height);
    }
  }, [density, rows, list]);
}

/** A row that is being scrolled to. The scroll goes by place, and takes some frames: rows may come in before it. */
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

/** Brings a row into sight on request, and keeps it there while others come in before it. */
export function useShownRow({ ref, list, scroller, view: { rows, indexOf }, isActive }: ShownOptions): void {
  const { current } = useReading();
  const wanted = useRef<Wanted>(undefined);
  const focusWanted = useRef<string>(undefined);

  const scrollTo = ({ key, align }: Pick<Wanted, 'key' | 'align'>) => {
    const index = indexOf(key);
    if (index >= 0) list.scrollToIndex(index, { align });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when rows came or went
  useLayoutEffect(() => {
    // Where another row is the current one by now, the next one is on its way there.
    const { key, until = 0 } = wanted.current ?? {};
    if (wanted.current && performance.now() < until && key === current.get()?.key) scrollTo(wanted.current);
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
}
