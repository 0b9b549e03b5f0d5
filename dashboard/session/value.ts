import { useSyncExternalStore } from 'react';

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
