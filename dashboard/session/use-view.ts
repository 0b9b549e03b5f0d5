import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Folds, keepFolds, readFolds } from './folds.ts';
import type { Timeline } from './model/build.ts';
import type { Item } from './model/items.ts';
import { canOpen, flatten, opensWithAll, type Row, type Showable } from './model/rows.ts';

/** The rows of the timeline, and functions that open and close them. */
export interface View {
  rows: readonly Row[];
  indexOf: (key: string) => number;
  toggle: (item: Item) => void;
  setAll: (open: boolean) => void;
  /** Opens items, such as the parents of an event. */
  reveal: (keys: readonly string[]) => void;
}

interface Options {
  sessionId: string;
  shown: readonly Showable[];
  /** Only this sub-agent. */
  lane: string | undefined;
}

export function useView(timeline: Timeline, { sessionId, shown, lane }: Options): View {
  const [folds, setFolds] = useState<Folds>(() => readFolds(sessionId));
  const [kept] = useState(folds);
  const { preset, chosen } = folds;
  const isOpen = useCallback(
    (item: Item) => canOpen(item) && (chosen.get(item.key) ?? (preset && opensWithAll(item))),
    [chosen, preset],
  );
  const items = useMemo(() => {
    const only = lane === undefined ? undefined : timeline.lanes.find((each) => each.lane === lane);
    return only?.items ?? timeline.items;
  }, [timeline, lane]);
  const before = useRef<{ rows: readonly Row[]; indexes: ReadonlyMap<string, number> }>(undefined);
  const drawn = useMemo(() => {
    const known = (key: string) => before.current?.rows[before.current.indexes.get(key) ?? -1];
    const rows = flatten(items, isOpen, shown, known);
    return { rows, indexes: new Map(rows.map((row, index) => [row.key, index])) };
  }, [items, isOpen, shown]);
  const { rows, indexes } = drawn;

  useEffect(() => {
    before.current = drawn;
  }, [drawn]);

  useEffect(() => {
    if (folds !== kept) keepFolds(sessionId, folds);
  }, [sessionId, folds, kept]);

  const reveal = useCallback((keys: readonly string[]) => {
    setFolds((before) => {
      if (keys.every((key) => before.chosen.get(key))) return before;
      const opened = keys.map((key): [string, boolean] => [key, true]);
      return { ...before, chosen: new Map([...before.chosen, ...opened]) };
    });
  }, []);

  const toggle = useCallback((item: Item) => {
    setFolds(({ preset: all, chosen: before }) => {
      const wasOpen = before.get(item.key) ?? (all && opensWithAll(item));
      return { preset: all, chosen: new Map(before).set(item.key, !wasOpen) };
    });
  }, []);

  return {
    rows,
    indexOf: useCallback((key) => indexes.get(key) ?? -1, [indexes]),
    toggle,
    setAll: (open) => setFolds({ preset: open, chosen: new Map() }),
    reveal,
  };
}
