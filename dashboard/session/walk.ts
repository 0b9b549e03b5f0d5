import { type RefObject, useCallback, useRef } from 'react';
import type { Timeline } from './model/build.ts';
import { failuresOf, locate, type Place, type Row } from './model/rows.ts';
import { turnAt } from './model/turns.ts';
import type { Reading } from './reading.ts';
import type { TimelineHandle } from './use-timeline-rows.ts';
import type { View } from './use-view.ts';

interface Options {
  timeline: Timeline;
  view: View;
  reading: Reading;
  handle: RefObject<TimelineHandle | null>;
  /** Removes filters that hide this row. */
  unhide: (place: Place) => void;
}

/** Functions that move between rows. Each makes a row the current one, scrolls it into view and gives it the focus. */
export function useWalk({ timeline, view, reading, handle, unhide }: Options) {
  const { items, orders, turns } = timeline;
  const { rows, indexOf, reveal } = view;
  const latest = useRef(view);
  const failing = useRef<{ items: typeof items; failures: ReturnType<typeof failuresOf> }>(undefined);
  latest.current = view;

  const choose = useCallback(
    ({ key, item: { sequence, order } }: Row) => reading.current.set({ key, sequence, order }),
    [reading],
  );

  /** After rows were opened or closed, scrolls the current row into view, or the row that it is folded into by now. */
  const stay = useCallback(
    (focus = true) =>
      requestAnimationFrame(() => {
        const now = reading.current.get();
        const place = now && locate(items, now.sequence, orders);
        if (!now || !place) return;
        const key = [place.key, ...place.parents.toReversed()].find((each) => latest.current.indexOf(each) >= 0);
        if (key === undefined) return;
        reading.current.set({ ...now, key });
        handle.current?.show(key, 'center', focus);
      }),
    [items, orders, reading, handle],
  );

  /** Makes an event's row the current one, without scrolling to it. */
  const mark = useCallback(
    (sequence: number) => {
      const place = locate(items, sequence, orders);
      if (!place) return undefined;
      reading.current.set({ key: place.key, sequence, order: orders.get(sequence) ?? sequence });
      reveal(place.parents);
      return place;
    },
    [items, orders, reading, reveal],
  );

  /** @param open opens the row itself too, not only its parents */
  const goTo = useCallback(
    (sequence: number, focus = true, open = false) => {
      const place = mark(sequence);
      if (!place) return;
      if (open) reveal([place.key]);
      if (latest.current.indexOf(place.key) < 0) unhide(place);
      stay(focus);
    },
    [mark, reveal, unhide, stay],
  );

  const step = (by: number) => {
    const at = indexOf(reading.current.get()?.key ?? '');
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (!next) return;
    choose(next);
    handle.current?.show(next.key, 'auto', true);
  };

  const orderNow = () => reading.current.get()?.order ?? 0;

  const stepFailure = (by: 1 | -1) => {
    const from = orderNow();
    if (failing.current?.items !== items) failing.current = { items, failures: failuresOf(items) };
    const { failures } = failing.current;
    const next = by > 0 ? failures.find(({ order }) => order > from) : failures.findLast(({ order }) => order < from);
    if (next) goTo(next.sequence);
  };

  const stepTurn = (by: 1 | -1) => {
    const at = turnAt(turns, reading.current.get()?.order ?? reading.seen.get().from);
    const isInside = (turns[at]?.order ?? 0) < orderNow();
    const next = turns[by < 0 && isInside ? at : at + by];
    if (next) goTo(next.prompt?.sequence ?? (next.items[0]?.sequence as number));
  };

  return { choose, mark, goTo, stay, step, stepFailure, stepTurn };
}
