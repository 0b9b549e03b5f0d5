import type { Entry } from '../../contract/entry/entry.ts';
import { joinAround } from '../../contract/entry/join.ts';
import { readEvent } from '../../contract/entry/read.ts';
import type { SessionEvent } from '../../contract/event.ts';

/** Reads events from a sequence number on. */
export type FetchWindow = (from: number, limit: number, signal: AbortSignal) => Promise<readonly SessionEvent[]>;

/** The events of a session as far as they are loaded. Payloads are not kept: what needs one reads it again. */
export interface EventLog {
  entries(): readonly (Entry | undefined)[];
  isComplete(): boolean;
  error(): unknown;
  subscribe(listener: () => void): () => void;
  /** Counts up with every change. */
  version(): number;
  /** There are this many events now. */
  grow(eventCount: number): void;
  retry(): void;
  close(): void;
}

const FIRST_WINDOW = 300;
const WINDOW = 1000;
/** New events are asked for at most so often. */
const LIVE_EVERY_MS = 350;

export interface LogOptions {
  fetchWindow: FetchWindow;
  eventCount: number;
  /** The event to show first. */
  target?: number | undefined;
}

/** Loads the events around the target, then what follows, then what is before, then what is added. */
export function createEventLog({ fetchWindow, eventCount, target }: LogOptions): EventLog {
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  const loaded: (Entry | undefined)[] = new Array(eventCount).fill(undefined);
  let version = 0;
  let running = false;
  let failure: unknown;
  let first = Math.max(1, Math.min(target ?? 1, eventCount) - FIRST_WINDOW / 3);
  first = Math.floor(first);
  let snapshot: readonly (Entry | undefined)[] = [];

  const notify = () => {
    version++;
    snapshot = loaded.slice();
    for (const listener of listeners) listener();
  };

  async function load(from: number, limit: number): Promise<void> {
    const events = await fetchWindow(from, limit, stop.signal);
    for (const event of events) loaded[event.sequence - 1] = readEvent(event);
    const last = events.at(-1)?.sequence ?? from - 1;
    joinAround(loaded, from, last);
    if (events.length === 0) throw new Error('The service counts events that it does not show.');
    notify();
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    failure = undefined;
    try {
      let isFirst = loaded.every((entry) => entry === undefined);
      while (!stop.signal.aborted) {
        const from = nextHole(loaded, first);
        if (from === undefined) break;
        const started = Date.now();
        const hole = holeLength(loaded, from);
        await load(from, Math.min(isFirst ? FIRST_WINDOW : WINDOW, hole));
        const isTail = nextHole(loaded, first) === undefined;
        if (isTail) await pause(LIVE_EVERY_MS - (Date.now() - started), stop.signal);
        isFirst = false;
      }
    } catch (error) {
      if (!stop.signal.aborted) failure = error;
    }
    running = false;
    if (!stop.signal.aborted) notify();
  }

  if (eventCount > 0) void run();

  return {
    entries: () => snapshot,
    isComplete: () => loaded.length === 0 || nextHole(loaded, 1) === undefined,
    error: () => failure,
    version: () => version,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    grow(count) {
      if (count <= loaded.length) return;
      while (loaded.length < count) loaded.push(undefined);
      void run();
    },
    retry: () => void run(),
    close: () => stop.abort(),
  };
}

/** Where to read next: from the first window on to the end, then what is before it. */
function nextHole(loaded: readonly (Entry | undefined)[], first: number): number | undefined {
  for (let index = first - 1; index < loaded.length; index++) if (!loaded[index]) return index + 1;
  for (let index = first - 2; index >= 0; index--) {
    if (loaded[index]) continue;
    let start = index;
    while (start > 0 && !loaded[start - 1] && index - start < WINDOW - 1) start--;
    return start + 1;
  }
  return undefined;
}

function holeLength(loaded: readonly (Entry | undefined)[], from: number): number {
  let index = from - 1;
  while (index < loaded.length && !loaded[index]) index++;
  return index - from + 1;
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (milliseconds <= 0 || signal.aborted) return resolve();
    setTimeout(resolve, milliseconds);
  });
