import { useSyncExternalStore } from 'react';

/** Something that changes often, and concerns few: kept beside the state of the page, so that it is not drawn again. */
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

/** What a part of the page needs of it: drawn again only when that is another. */
export const useValue = <Content, Part>({ get, subscribe }: Value<Content>, select: (content: Content) => Part): Part =>
  useSyncExternalStore(subscribe, () => select(get()));
