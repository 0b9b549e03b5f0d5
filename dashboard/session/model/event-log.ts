import type { SessionEvent } from '../../../contract/event.ts';
import type { Entry } from '../../../transcript/entry/entry.ts';
import { joinAround } from '../../../transcript/entry/join.ts';
import { readEvent } from '../../../transcript/entry/read.ts';
import type { Line } from '../../app/index-lines.ts';
import type { Timeline } from './build.ts';
import { createModel, rebuildModel } from './model.ts';

/** The source of a session's events. */
export interface Source {
  /** The index of the events from a sequence number. It may end before the last event, since it is derived later. */
  readIndex(from: number, signal: AbortSignal): AsyncIterable<Line>;
  /** The events themselves. */
  readWindow(from: number, limit: number, signal: AbortSignal): Promise<readonly SessionEvent[]>;
}

/** The timeline of a session as far as it is loaded. Payloads are not kept; they are read again when they are needed. */
export interface EventLog {
  state(): LogState;
  subscribe(listener: () => void): () => void;
  /** Reports the current number of events. */
  grow(eventCount: number): void;
  retry(): void;
  close(): void;
}

export interface LogState {
  timeline: Timeline;
  /** The number of events in the timeline, from the first one. */
  loaded: number;
  isComplete: boolean;
  error: unknown;
}

const FIRST_WINDOW = 300;
const WINDOW = 1000;
/** Up to this many events are read directly; for more, the index is smaller. */
const FEW = 200;
/** The shortest time between requests for new events. */
const LIVE_EVERY_MS = 350;
/** The timeline is shown again when it has grown by this factor. All rounds together take half as long again as the last one. */
const GROWTH = 3;
/** Longer work in one go would be noticeable: a frame has 16 ms, and the browser needs a part of them. */
const STRETCH_MS = 10;

/** Reads the index, then the events that it does not cover yet, then new events. */
export function createEventLog({ readIndex, readWindow }: Source, eventCount: number): EventLog {
  const stop = new AbortController();
  const { signal } = stop;
  const listeners = new Set<() => void>();
  const entries: (Entry | undefined)[] = [];
  let model = createModel();
  let wanted = eventCount;
  let running = false;
  let hasIndex = true;
  let next = 1;
  let state: LogState = { timeline: model.timeline(), loaded: 0, isComplete: eventCount === 0, error: undefined };

  function publish(change: Partial<LogState>): void {
    if (signal.aborted) return;
    state = { ...state, ...change, isComplete: next > wanted };
    for (const listener of listeners) listener();
  }

  async function show(): Promise<void> {
    if (next - 1 === state.loaded) return;
    const loaded = next - 1;
    if (model.isStale()) model = await rebuildModel(entries, createRest());
    // With 50,000 events, building and drawing take 50 ms each. The page gets a turn between them.
    await yieldToPage();
    const timeline = model.timeline();
    await yieldToPage();
    publish({ timeline, loaded, error: undefined });
  }

  function take(entry: Entry): void {
    if (entry.sequence < next) return;
    entries[entry.sequence - 1] = entry;
    next = entry.sequence + entry.span;
    entries.length = next - 1;
    model.add(entry);
  }

  async function loadIndex(): Promise<void> {
    const rest = createRest();
    for await (const line of readIndex(next, signal)) {
      for (const entry of line.entries) take(entry);
      if (next - 1 > state.loaded * GROWTH) await show();
      const pause = rest();
      if (pause) await pause;
    }
  }

  async function loadWindow(): Promise<void> {
    const limit = state.loaded === 0 ? FIRST_WINDOW : WINDOW;
    const events = await readWindow(next, Math.min(limit, wanted - next + 1), signal);
    const last = events.at(-1);
    if (!last) throw new Error('The service counts events that it does not show.');
    const read: (Entry | undefined)[] = [];
    for (const event of events) read[event.sequence - 1] = readEvent(event);
    const begun = read[next - 1];
    // The first parts of a payload may have been read already.
    const start = begun?.kind === 'part' ? Math.max(0, begun.sequence - begun.part) : next - 1;
    for (let index = start; index < next - 1; index++) read[index] = entries[index];
    joinAround(read, next, last.sequence);
    if (start < next - 1 && read[start] !== entries[start]) {
      entries.length = start;
      next = start + 1;
      model = await rebuildModel(entries, createRest());
    }
    for (let index = start; index < read.length; index++) if (read[index]) take(read[index] as Entry);
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    try {
      while (!signal.aborted && next <= wanted) {
        const started = Date.now();
        await load();
        if (next > wanted || next - 1 > state.loaded * GROWTH) await show();
        if (next > wanted) await pause(LIVE_EVERY_MS - (Date.now() - started), signal);
      }
    } catch (error) {
      if (!signal.aborted) await show();
      publish({ error });
    }
    running = false;
  }

  async function load(): Promise<void> {
    const from = next;
    if (!hasIndex || wanted - from < FEW) return loadWindow();
    await loadIndex().catch(() => {});
    // The index does not cover the next event yet, so the events are read directly.
    if (next === from) hasIndex = false;
  }

  if (eventCount > 0) void run();

  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    grow(count) {
      if (count <= wanted) return;
      wanted = count;
      void run();
    },
    retry() {
      hasIndex = true;
      publish({ error: undefined });
      void run();
    },
    close: () => stop.abort(),
  };
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (milliseconds <= 0 || signal.aborted) return resolve();
    setTimeout(resolve, milliseconds);
  });

/** Lets the page work after each stretch of time. Returns undefined while there is time left, or else a promise to await. */
function createRest(now = () => performance.now()): () => Promise<void> | undefined {
  let since = now();
  return () => {
    if (now() - since < STRETCH_MS) return undefined;
    return yieldToPage().then(() => {
      since = now();
    });
  };
}

/** Yields with a message, which arrives after the page's pending work. A timer would fire 4 ms later. */
const yieldToPage = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
