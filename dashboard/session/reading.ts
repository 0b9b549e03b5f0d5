import { createContext, useContext, useSyncExternalStore } from 'react';

/** A value that changes often and concerns few components. It is kept outside of the page's state to avoid redrawing the page. */
export interface Value<Content> {
  get(): Content;
  set(content: Content): void;
  subscribe(listener: () => void): () => void;
}

export function createValue<Content>(initial: Content): Value<Content> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    get: () => current,
    set(content) {
      if (Object.is(content, current)) return;
      current = content;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Selects a part of a value. The component is only drawn again if that part changes. */
export const useValue = <Content, Part>({ get, subscribe }: Value<Content>, select: (content: Content) => Part): Part =>
  useSyncExternalStore(subscribe, () => select(get()));

/** The row that keys act on. It has the focus whenever the timeline has the focus. */
export interface Current {
  key: string;
  sequence: number;
  order: number;
}

/** The reader's place in a session. It changes with every key and every scroll, so it is not in the state of the page. */
export interface Reading {
  current: Value<Current | undefined>;
  /** First and last order of the marked range. */
  range: Value<{ from: number; to: number } | undefined>;
  /** The orders of the first and the last visible row. */
  seen: Value<{ from: number; to: number }>;
  /** The words of the search, which are highlighted. */
  words: Value<string>;
  /** The events with matches. */
  hits: Value<ReadonlySet<number>>;
}

export const createReading = (): Reading => ({
  current: createValue<Current | undefined>(undefined),
  range: createValue<{ from: number; to: number } | undefined>(undefined),
  seen: createValue({ from: 0, to: 0 }),
  words: createValue(''),
  hits: createValue<ReadonlySet<number>>(new Set()),
});

const ReadingContext = createContext<Reading | undefined>(undefined);
export const ReadingProvider = ReadingContext.Provider;

export function useReading(): Reading {
  const reading = useContext(ReadingContext);
  if (!reading) throw new Error('There is no ReadingProvider above.');
  return reading;
}
