import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { SessionSearch } from '../../contract/pages.ts';
import { SHOWABLE, type Showable } from './model/rows.ts';

/** The query string of a session's page, and two functions that change it. */
export interface Search extends SessionSearch {
  shown: readonly Showable[];
  range: { from: number; to: number } | undefined;
  /** For a step of the reader, which Back undoes. */
  change: (change: SessionSearch) => void;
  /** For adjustments that Back skips. */
  amend: (change: SessionSearch) => void;
}

export function useSessionSearch(sessionId: string): Search {
  const search = useSearch({ from: '/sessions/$sessionId' });
  const navigate = useNavigate();
  const { show, from, to } = search;
  const go = useCallback(
    (wanted: SessionSearch, replace: boolean) => {
      const next = (before: object) => ({ ...before, ...wanted });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId }, search: next, replace });
    },
    [navigate, sessionId],
  );
  const change = useCallback((wanted: SessionSearch) => go(wanted, false), [go]);
  const amend = useCallback((wanted: SessionSearch) => go(wanted, true), [go]);
  return {
    ...search,
    shown: useMemo(() => SHOWABLE.filter((kind) => show?.split(',').includes(kind)), [show]),
    range: useMemo(() => (from !== undefined && to !== undefined ? { from, to } : undefined), [from, to]),
    change,
    amend,
  };
}
