import type { View, ViewSearch } from '../../contract/view.ts';
import { keys, type SessionSearch, useResource } from '../app/queries.ts';
import { readFrameSearch, readSessionsSearch } from '../app/search.ts';

/** A saved search with a name, from this person or shared by another member. */
export type SavedView = Omit<View, 'search'> & { search: SessionSearch };

/** The person's views and those that others share, sorted by name. */
export const useViews = () =>
  useResource(
    keys.views,
    async (api, signal) => (await api.listViews({ signal })).body.views.map(readView).sort(byName),
    { staleTime: 60_000 },
  );

const byName = (one: SavedView, other: SavedView): number => one.name.localeCompare(other.name);

const readView = ({ search, ...view }: View): SavedView => ({ ...view, search: readViewSearch(search) });

/** Reads leniently, because a later version of the dashboard may have saved the view. */
export const readViewSearch = ({ secretEnvironment, ...search }: ViewSearch): SessionSearch => ({
  ...readSessionsSearch(search),
  ...readFrameSearch({ plane: secretEnvironment }),
});

export const writeViewSearch = ({ q, order, direction, plane }: SessionSearch): ViewSearch => ({
  ...(q && { q }),
  ...(order && { order }),
  ...(direction && { direction }),
  ...(plane && { secretEnvironment: plane }),
});

const PARTS = ['q', 'order', 'direction', 'plane'] as const;
export const isSameSearch = (a: SessionSearch, b: SessionSearch): boolean => PARTS.every((part) => a[part] === b[part]);
