import type { LiveChange } from '../../contract/extensions.ts';
import { hrefOf } from '../kit/base-path.ts';

/** `lost`: the last attempt to connect failed. */
export type LiveState = 'connecting' | 'open' | 'lost';
type Listener = (change: LiveChange) => void;

/** The only stream of changes of this tab. It opens for the first listener, and reconnects by itself. */
export interface Live {
  /** @returns the function that stops listening */
  onChange(listener: Listener): () => void;
  /** Calls the listener whenever the stream has opened, since changes in between were missed. */
  onOpen(listener: () => void): () => void;
  /** Calls the watcher at every change of the state. @returns the function that stops it */
  subscribe(watcher: () => void): () => void;
  state(): LiveState;
}

const ADDRESS = '/v1/organizations/me/live';
const MAX_WAIT = 15_000;
/** The service sends a line every 15 s; a stream that is silent for this long is dead. */
const SILENCE = 40_000;
const HIDDEN_FOR = 10_000;
/** If the service has not begun to answer by then, the state is `lost`; it may still answer later. */
const SLOW = 5_000;

export function createLive(authorizedFetch: typeof fetch): Live {
  const changes = new Set<Listener>();
  const opens = new Set<() => void>();
  const watchers = new Set<() => void>();
  let state: LiveState = 'connecting';
  let stop: AbortController | undefined;
  let wake = () => {};
  let disconnect = () => {};

  const setState = (next: LiveState) => {
    if (next === state) return;
    state = next;
    for (const watcher of watchers) watcher();
  };

  async function run(signal: AbortSignal) {
    for (let failures = 0; !signal.aborted; failures++) {
      const connection = new AbortController();
      disconnect = () => connection.abort();
      const wasOpen = await read(AbortSignal.any([signal, connection.signal]), connection).catch(() => false);
      if (signal.aborted) return;
      if (wasOpen) failures = 0;
      setState(wasOpen ? 'connecting' : 'lost');
      const longest = Math.min(MAX_WAIT, 500 * 2 ** failures);
      await pause(longest / 2 + Math.random() * (longest / 2), signal);
    }
  }

  /** @returns whether the stream was open */
  async function read(signal: AbortSignal, connection: AbortController): Promise<boolean> {
    const slow = setTimeout(() => setState('lost'), SLOW);
    const response = await authorizedFetch(hrefOf(ADDRESS), {
      headers: { accept: 'text/event-stream' },
      signal,
    }).finally(() => clearTimeout(slow));
    if (!response.ok || !response.body) return false;
    const { createParser } = await import('eventsource-parser');
    setState('open');
    for (const listener of opens) listener();
    const parser = createParser({ onEvent: ({ data }) => tell(data) });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const silent = setTimeout(() => connection.abort(), SILENCE);
      const part = await reader.read().catch(() => undefined);
      clearTimeout(silent);
      if (!part || part.done) return true;
      parser.feed(part.value);
    }
  }

  function tell(data: string) {
    const change = JSON.parse(data) as LiveChange;
    for (const listener of changes) listener(change);
  }

  const pause = (milliseconds: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end);
      wake = end;
    });

  const start = () => {
    if (stop || changes.size === 0 || document.visibilityState === 'hidden') return;
    stop = new AbortController();
    void run(stop.signal);
  };
  const close = () => {
    stop?.abort();
    stop = undefined;
    setState('connecting');
  };
  const stopWhenUnused = () => {
    if (changes.size === 0) close();
  };

  window.addEventListener('online', () => wake());
  // On a machine that went offline, the stream is silent, but not closed.
  window.addEventListener('offline', () => disconnect());
  // Over HTTP/1.1, all tabs of a browser share six connections to a service. So a tab that is hidden for a while closes
  // its stream, and a tab that opens in the background does not open one.
  let hiding: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.visibilityState === 'visible') start();
    else hiding = setTimeout(close, HIDDEN_FOR);
  });
  // The browser may keep a page that was left, with its connection open and its timers stopped.
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', start);

  return {
    onChange(listener) {
      changes.add(listener);
      start();
      return () => {
        changes.delete(listener);
        // A change of the page removes the last listener and adds another one at once.
        setTimeout(stopWhenUnused, 1000);
      };
    },
    onOpen: (listener) => added(opens, listener),
    subscribe: (watcher) => added(watchers, watcher),
    state: () => state,
  };
}

function added<Each>(set: Set<Each>, each: Each): () => void {
  set.add(each);
  return () => set.delete(each);
}
