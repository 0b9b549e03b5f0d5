import type { KeyboardEvent, RefObject } from 'react';
import { useKeys } from '../kit/use-keys.ts';

interface Options {
  grid: RefObject<HTMLElement | null>;
  rowCount: number;
  /** The row that has the focus or would get it: its index, and its session. */
  stop: number;
  current: string | undefined;
  /** The number of rows that the page keys move by. */
  page: number;
  /** Focuses a row. */
  focus: (index: number) => void;
  open: (sessionId: string) => void;
  previewed: string | undefined;
  onPreview: (sessionId: string | undefined) => void;
}

/** Keyboard shortcuts: `j`, `k`, `g g` and `G` work on the whole page, the others on a row. @returns the handler for the rows */
export function useListKeys({ grid, rowCount, stop, current, page, focus, open, previewed, onPreview }: Options) {
  const hasFocus = () => grid.current?.contains(document.activeElement) ?? false;
  const step = (by: number) => focus(hasFocus() ? stop + by : stop);
  useKeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['g g', () => focus(0)],
    ['G', () => focus(rowCount - 1)],
  ]);
  const keys = new Map<string, () => void>([
    ['ArrowDown', () => step(1)],
    ['ArrowUp', () => step(-1)],
    ['PageDown', () => step(page)],
    ['PageUp', () => step(-page)],
    ['Home', () => focus(0)],
    ['End', () => focus(rowCount - 1)],
    ['Enter', () => current && open(current)],
    [' ', () => onPreview(previewed === current ? undefined : current)],
  ]);
  return (event: KeyboardEvent<HTMLElement>) => {
    const isRow = event.target instanceof HTMLElement && event.target.matches('[data-session]');
    const run = isRow ? keys.get(event.key) : undefined;
    if (!run || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    run();
  };
}
