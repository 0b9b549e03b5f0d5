import { useCallback, useMemo, useState } from 'react';
import type { Timeline } from '../../timeline/build.ts';
import type { Item } from '../../timeline/items.ts';
import { canOpen, flatten, locate, type Place, type Row } from '../../timeline/rows.ts';

/** What of the timeline is open, and which row is the current one. */
export interface View {
  rows: readonly Row[];
  isOpen: (item: Item) => boolean;
  toggle: (item: Item) => void;
  setAll: (open: boolean) => void;
  /** The row in which the current event is. */
  current: Row | undefined;
  /** Opens what the event is folded into. */
  reveal: (place: Place) => void;
}

export function useView(timeline: Timeline, sequence: number | undefined): View {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [preset, setPreset] = useState(false);
  const place = useMemo(
    () => (sequence === undefined ? undefined : locate(timeline.items, sequence, timeline.orders)),
    [timeline, sequence],
  );
  const isOpen = useCallback((item: Item) => canOpen(item) && (chosen.get(item.key) ?? preset), [chosen, preset]);
  const rows = useMemo(() => flatten(timeline.items, isOpen), [timeline, isOpen]);
  const current = useMemo(() => findRow(rows, place), [rows, place]);

  const reveal = useCallback(({ parents }: Place) => {
    setChosen((before) => {
      if (parents.every((key) => before.get(key))) return before;
      return new Map([...before, ...parents.map((key): [string, boolean] => [key, true])]);
    });
  }, []);

  const toggle = useCallback(
    ({ key }: Item) => setChosen((before) => new Map([...before, [key, !(before.get(key) ?? preset)]])),
    [preset],
  );

  return {
    rows,
    isOpen,
    toggle,
    setAll: (open) => {
      setPreset(open);
      setChosen(new Map());
    },
    current,
    reveal,
  };
}

/** Its own row, or that of the closest thing it is folded into. */
function findRow(rows: readonly Row[], place: Place | undefined): Row | undefined {
  if (!place) return undefined;
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const key = [place.key, ...place.parents.toReversed()].find((each) => byKey.has(each));
  return key === undefined ? undefined : byKey.get(key);
}
