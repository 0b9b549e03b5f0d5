import { useState } from 'react';
import type { SessionSearch } from '../../queries.ts';
import { readFrameSearch, readSessionsSearch } from '../../search.ts';

/** A list of sessions under a name. */
export interface View {
  name: string;
  search: SessionSearch;
}

/** Views that this browser keeps for an organization, by name. */
export function useViews(organizationId: string) {
  const key = `views:${organizationId}`;
  const [views, setViews] = useState(() => readViews(readKept(key)));
  const keep = (next: readonly View[]) => {
    setViews(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // Kept for this visit only.
    }
  };
  return {
    views,
    save: (view: View) =>
      keep([...views.filter(({ name }) => name !== view.name), view].sort((a, b) => a.name.localeCompare(b.name))),
    remove: (name: string) => keep(views.filter((view) => view.name !== name)),
  };
}

/** @param text what was kept, by whichever version */
export function readViews(text: string | null): readonly View[] {
  try {
    const given: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(given)) return [];
    return given.flatMap((each) => {
      const { name, search } = (each ?? {}) as { name?: unknown; search?: unknown };
      if (typeof name !== 'string' || name === '' || typeof search !== 'object' || search === null) return [];
      const kept = search as Record<string, unknown>;
      return [{ name, search: { ...readSessionsSearch(kept), ...readFrameSearch(kept) } }];
    });
  } catch {
    return [];
  }
}

const PARTS = ['q', 'order', 'direction', 'plane'] as const;
export const isSameSearch = (a: SessionSearch, b: SessionSearch): boolean => PARTS.every((part) => a[part] === b[part]);

function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
