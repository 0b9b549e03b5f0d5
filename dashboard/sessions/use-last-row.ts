import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { useHistoryEntry } from '../app/history-entry.ts';
import { isFocusFree } from '../frame/heading.tsx';
import { createKept } from '../kit/kept.ts';

/** Enough for all lists that Back leads to. */
const MAX_ENTRIES = 50;
/** The session of the row that had the focus, by the list's entry in the browser's history. */
const rows = createKept('rows', MAX_ENTRIES, (value): value is string => typeof value === 'string');

/** The session of the current row. A list that the reader comes back to gives the focus to its row from before. */
export function useLastRow(grid: RefObject<HTMLElement | null>) {
  const entryOf = useHistoryEntry();
  const [current, setCurrent] = useState(() => rows.read(entryOf()));
  const returned = useRef(current);
  // After each drawing, because the list draws no row before it knows its height.
  useEffect(() => {
    if (returned.current === undefined) return;
    const row = grid.current?.querySelector<HTMLElement>(`[data-session="${CSS.escape(returned.current)}"]`);
    if (!isFocusFree()) returned.current = undefined;
    else row?.focus({ preventScroll: true });
  });
  const set = useCallback(
    (sessionId: string) => {
      setCurrent(sessionId);
      rows.write(entryOf(), sessionId);
    },
    [entryOf],
  );
  return [current, set] as const;
}
