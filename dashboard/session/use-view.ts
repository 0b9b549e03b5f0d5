import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { createKept } from '../kit/kept.ts';
import type { Timeline } from './model/build.ts';
import type { Item } from './model/items.ts';
import { canOpen, flatten, opensWithAll, type Row, type Showable } from './model/rows.ts';

const MAX_SESSIONS = 30;
const MAX_CHOICES = 1000;

interface Folds {
  /** true: everything is open except for closed items. false: the other way round. */
  preset: boolean;
  chosen: ReadonlyMap<string, boolean>;
}

type Choice = [item: string, isOpen: boolean];
interface Stored {
  preset: boolean;
  chosen: Choice[];
}

const isChoice = (value: unknown): value is Choice =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'boolean';

const isStored = (value: unknown): value is Stored => {
  const { preset, chosen } = (value ?? {}) as Partial<Stored>;
  return typeof preset === 'boolean' && Array.isArray(chosen) && chosen.every(isChoice);
};

/** The rows that a reader opened or closed. */
const kept = createKept('folds', MAX_SESSIONS, isStored);

function readFolds(sessionId: string): Folds {
  const { preset = false, chosen = [] } = kept.read(sessionId) ?? {};
  return { preset, chosen: new Map(chosen) };
}

const keepFolds = (sessionId: string, { preset, chosen }: Folds): void =>
  kept.write(sessionId, { preset, chosen: [...chosen].slice(-MAX_CHOICES) });

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
