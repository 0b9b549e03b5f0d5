import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { LiveChange } from '../../contract/extensions.ts';
import { parseQuery } from '../../contract/query.ts';
import { useApp } from '../app/app.ts';
import {
  keys,
  readSummaries,
  type SessionPages,
  type SessionRow,
  type SessionSearch,
  searchQuery,
} from '../app/queries.ts';
import { gather, throttle } from '../app/throttle.ts';
import { applyChange, applyRows, applySummaries, insertRows, rowsOf } from './live-rows.ts';

/** The shortest time between two requests, in milliseconds, however many changes arrive. */
const EVERY = 2_000;

/**
 * Keeps a list of sessions up to date. Known rows change in place, and only their figures are read again. New sessions wait
 * while `isReading()`, or if they would not be at the top; they are counted.
 */
export function useLiveSessions(search: SessionSearch, isReading: () => boolean) {
  const { api, live } = useApp();
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<readonly SessionRow[]>([]);
  // With words in the query, the service sorts by relevance.
  const hasWords = useMemo(() => parseQuery(search.q ?? '').terms.length > 0, [search.q]);
  const isNewestFirst = search.order === undefined && search.direction === undefined && !hasWords;

  const show = useCallback(
    (fresh: readonly SessionRow[]) => {
      setWaiting([]);
      if (!isNewestFirst) return void client.resetQueries({ queryKey: keys.sessions(search) });
      client.setQueryData<SessionPages>(keys.sessions(search), (data) => data && insertRows(data, fresh));
    },
    [client, search, isNewestFirst],
  );

  useEffect(() => {
    setWaiting([]);
    const change = (make: (data: SessionPages) => SessionPages) =>
      client.setQueryData<SessionPages>(keys.sessions(search), (data) => data && make(data));
    const knownIds = () => {
      const rows = rowsOf(client.getQueryData<SessionPages>(keys.sessions(search)));
      return new Set(rows.map(({ session }) => session.sessionId));
    };
    const readFirst = throttle(EVERY, async () => {
      const { sessions } = (await api.searchSessions({ query: searchQuery(search) })).body;
      const known = knownIds();
      change((data) => applyRows(data, sessions));
      const fresh = sessions.filter(({ session }) => !known.has(session.sessionId));
      if (isReading() || !isNewestFirst) setWaiting(fresh);
      else if (fresh.length > 0) show(fresh);
    });
    const readAgain = gather<string>(EVERY, async (sessionIds) => {
      const summaries = await readSummaries(api, sessionIds);
      change((data) => applySummaries(data, summaries));
    });
    const onChange = (told: LiveChange) => {
      if (!knownIds().has(told.sessionId)) return told.status === 'deleted' ? undefined : readFirst();
      change((data) => applyChange(data, told, Date.now()));
      if (told.status !== 'deleted') readAgain(told.sessionId);
    };
    // When the stream opens for the first time, the list is already being read; later, it may have missed changes.
    let isRead = live.state() === 'connecting';
    const onOpen = () => {
      if (!isRead) readFirst();
      isRead = false;
    };
    const stops = [live.onChange(onChange), live.onOpen(onOpen)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [api, live, client, search, isNewestFirst, isReading, show]);

  return { waiting: waiting.length, showWaiting: () => show(waiting) };
}
