import type { LiveChange } from '../contract/extensions.ts';

export type LiveState = 'connecting' | 'open' | 'waiting';
type Listener = (change: LiveChange) => void;

/** The one stream of changes of this tab. It opens with its first listener, and comes back by itself. */
export interface Live {
  /** @returns the function that stops listening */
  onChange(listener: Listener): () => void;
  /** Called whenever the stream is open again: what happened in between was not told. */
  onOpen(listener: () => void): () => void;
  subscribe(listener: () => void): () => void;
  state(): LiveState;
}

const ADDRESS = '/v1/organizations/me/live';
const LONGEST_WAIT = 15_000;
/** The service sends a line every 15 s; a stream that is silent for longer is dead. */
const SILENCE = 40_000;
const HIDDEN_FOR = 60_000;

export function createLive(authorizedFetch: typeof fetch): Live {
  const changes = new Set<Listener>();
  const opens = new Set<() => void>();
  const watchers = new Set<() => void>();
  let state: LiveState = 'connecting';
  let stop: AbortController | undefined;

  const setState = (next: LiveState) => {
    if (next === state) return;
    state = next;
    for (const watcher of watchers) watcher();
  };

  async function run(signal: AbortSignal) {
    for (let failures = 0; !signal.aborted; failures++) {
      setState(failures === 0 ? 'connecting' : 'waiting');
      const connection = new AbortController();
      const connected = await read(AbortSignal.any([signal, connection.signal]), connection).catch(() => false);
      if (connected) failures = 0;
      if (signal.aborted) return;
      setState('waiting');
      const longest = Math.min(LONGEST_WAIT, 500 * 2 ** failures);
      await pause(longest / 2 + Math.random() * (longest / 2), signal);
    }
  }

  /** @returns whether the stream was open */
  async function read(signal: AbortSignal, connection: AbortController): Promise<boolean> {
    const response = await authorizedFetch(ADDRESS, { headers: { accept: 'text/event-stream' }, signal });
    if (!response.ok || !response.body) return false;
    setState('open');
    for (const listener of opens) listener();
    const next = createReader(response.body);
    for (;;) {
      const silent = setTimeout(() => connection.abort(), SILENCE);
      const messages = await next().catch(() => undefined);
      clearTimeout(silent);
      if (messages === undefined) return true;
      for (const message of messages) for (const listener of changes) listener(message);
    }
  }

  const start = () => {
    if (stop || changes.size === 0) return;
    stop = new AbortController();
    void run(stop.signal);
  };
  const close = () => {
    stop?.abort();
    stop = undefined;
  };
  const stopWhenUnused = () => {
    if (changes.size === 0) close();
  };

  // A browser keeps six connections to a service over HTTP/1.1, for all of its tabs: one that is not looked at for a
  // while gives its own back.
  let hiding: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.visibilityState === 'visible') start();
    else hiding = setTimeout(close, HIDDEN_FOR);
  });

  return {
    onChange(listener) {
      changes.add(listener);
      start();
      return () => {
        changes.delete(listener);
        // A page change removes the last listener and adds another at once.
        setTimeout(stopWhenUnused, 1000);
      };
    },
    onOpen(listener) {
      opens.add(listener);
      return () => opens.delete(listener);
    },
    subscribe(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    state: () => state,
  };
}

/** Reads the changes of an event stream, those of a chunk at a time; `undefined` at its end. */
function createReader(body: ReadableStream<Uint8Array>): () => Promise<LiveChange[] | undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return async () => {
    const { done, value } = await reader.read();
    if (done) return undefined;
    text += decoder.decode(value, { stream: true });
    const { messages, rest } = splitMessages(text);
    text = rest;
    return messages.flatMap(readChange);
  };
}

/** The data of every complete message of an event stream's text, and what follows the last one. */
export function splitMessages(text: string): { messages: string[]; rest: string } {
  const blocks = text.split(/\r?\n\r?\n/);
  const rest = blocks.pop() ?? '';
  const messages = blocks.map((block) =>
    block
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
      .join('\n'),
  );
  return { messages: messages.filter((message) => message !== ''), rest };
}

function readChange(message: string): LiveChange[] {
  try {
    return [JSON.parse(message) as LiveChange];
  } catch {
    return [];
  }
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
