import { useSyncExternalStore } from 'react';
import { formatAgo, formatExact, formatWithinDay } from './format.ts';

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  now = Date.now();
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(tick, 10_000);
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The current time, updated a few times a minute by one clock for all components. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/** A fact about the time, such as whether a moment has passed. The component is only drawn again when the fact changes. */
export const useAtNow = <Fact extends string | number | boolean>(factAt: (now: number) => Fact): Fact =>
  useSyncExternalStore(subscribe, () => factAt(now));

interface AgoProps {
  time: string;
  /** The day is named above it. */
  isBelowDay?: boolean | undefined;
}

/** The time since then, with the exact time as a tooltip. */
export function Ago({ time, isBelowDay = false }: AgoProps) {
  const current = useNow();
  const milliseconds = Date.parse(time);
  return (
    <time dateTime={time} title={formatExact(milliseconds)}>
      {(isBelowDay ? formatWithinDay : formatAgo)(milliseconds, current)}
    </time>
  );
}
