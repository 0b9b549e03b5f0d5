import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { SessionSearch } from '../../search.ts';
import { SHOWABLE, type Showable } from '../../timeline/rows.ts';

/** What the address says of how a session is read, and how that is changed. */
export interface Search extends SessionSearch {
  shown: readonly Showable[];
  range: { from: number; to: number } | undefined;
  change: (change: SessionSearch) => void;
}

export function useSessionSearch(sessionId: string): Search {
  const search = useSearch({ from: '/sessions/$sessionId' });
  const navigate = useNavigate();
  const { show, from, to } = search;
  const change = useCallback(
    (wanted: SessionSearch) => {
      const next = (before: object) => ({ ...before, ...wanted });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId }, search: next, replace: true });
    },
    [navigate, sessionId],
  );
  return {
    ...search,
    shown: useMemo(() => SHOWABLE.filter((kind) => show?.split(',').includes(kind)), [show]),
    range: useMemo(() => (from !== undefined && to !== undefined ? { from, to } : undefined), [from, to]),
    change,
  };
}
