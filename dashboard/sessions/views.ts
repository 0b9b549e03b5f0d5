import { useState } from 'react';
import type { SessionSearch } from '../app/queries.ts';
import { readFrameSearch, readSessionsSearch } from '../app/search.ts';
import { readLocal, writeLocal } from '../kit/local-storage.ts';

/** A list of sessions under a name. */
export interface View {
  name: string;
  search: SessionSearch;
}

/** Views that this browser keeps for an organization, by name. */
export function useViews(organizationId: string) {
  const key = `views:${organizationId}`;
  const [views, setViews] = useState(() => readViews(readLocal(key)));
  const keep = (next: readonly View[]) => {
    setViews(next);
    writeLocal(key, next);
  };
  return {
    views,
    save: (view: View) =>
      keep([...views.filter(({ name }) => name !== view.name), view].sort((a, b) => a.name.localeCompare(b.name))),
    remove: (name: string) => keep(views.filter((view) => view.name !== name)),
  };
}

/** @param kept a value from the browser's storage, by any version */
export function readViews(kept: unknown): readonly View[] {
  if (!Array.isArray(kept)) return [];
  return kept.flatMap((each) => {
    const { name, search } = (each ?? {}) as { name?: unknown; search?: unknown };
    if (typeof name !== 'string' || name === '' || typeof search !== 'object' || search === null) return [];
    const given = search as Record<string, unknown>;
    return [{ name, search: { ...readSessionsSearch(given), ...readFrameSearch(given) } }];
  });
}

const PARTS = ['q', 'order', 'direction', 'plane'] as const;
export const isSameSearch = (a: SessionSearch, b: SessionSearch): boolean => PARTS.every((part) => a[part] === b[part]);
