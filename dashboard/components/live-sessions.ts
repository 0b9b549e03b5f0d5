import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { LiveChange } from '../../contract/extensions.ts';
import type { Session } from '../../contract/session.ts';
import { useApp } from '../app.ts';
import { keys, listQuery, PAGE, type SessionFilter } from '../queries.ts';

type Pages = InfiniteData<{ sessions: Session[]; nextCursor: string | null }, string | undefined>;

/** At most so often a change leads to a request, whatever happens on the machines. */
const EVERY = 2_000;

/**
 * Keeps a list of sessions as it is now. Known sessions change in place. New ones wait while `isReading()` and are
 * counted, so that what is read does not move.
 */
export function useLiveSessions(filter: SessionFilter, isReading: () => boolean) {
  const { api, live } = useApp();
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<Session[]>([]);
  const { plane, environment, agent } = filter;

  const show = useCallback(
    (fresh: readonly Session[]) => {
      client.setQueryData<Pages>(keys.sessions({ plane, environment, agent }), (data) => data && prepend(data, fresh));
      setWaiting([]);
    },
    [client, plane, environment, agent],
  );

  useEffect(() => {
    const key = keys.sessions({ plane, environment, agent });
    const known = () => client.getQueryData<Pages>(key)?.pages.flatMap((page) => page.sessions) ?? [];
    const readFirst = throttle(EVERY, async () => {
      const { sessions } = (await api.listSessions({ query: listQuery({ plane, environment, agent }, PAGE) })).body;
      const ids = new Set(known().map(({ sessionId }) => sessionId));
      const fresh = sessions.filter(({ sessionId }) => !ids.has(sessionId));
      client.setQueryData<Pages>(key, (data) => data && update(data, sessions));
      if (fresh.length === 0) return;
      if (isReading()) setWaiting(fresh);
      else show(fresh);
    });
    const readSummaries = throttle(EVERY, () => client.invalidateQueries({ queryKey: keys.summaries }));
    const onChange = (change: LiveChange) => {
      if (known().some(({ sessionId }) => sessionId === change.sessionId)) {
        client.setQueryData<Pages>(key, (data) => data && patch(data, change));
        readSummaries();
      } else readFirst();
    };
    setWaiting([]);
    const stops = [live.onChange(onChange), live.onOpen(readFirst)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [api, live, client, plane, environment, agent, isReading, show]);

  return { waiting: waiting.length, showWaiting: () => show(waiting) };
}

/** `change` gives what takes a session's place: itself as it is now, or nothing. */
const mapSessions = (data: Pages, change: (session: Session) => Session | []): Pages => ({
  ...data,
  pages: data.pages.map((page) => ({ ...page, sessions: page.sessions.flatMap(change) })),
});

const patch = (data: Pages, { sessionId, eventCount, status }: LiveChange): Pages =>
  mapSessions(data, (session) => {
    if (session.sessionId !== sessionId) return session;
    if (status === 'deleted') return [];
    const ends = status !== 'active' && session.endedAt === undefined;
    return {
      ...session,
      status,
      eventCount: Math.max(eventCount, session.eventCount),
      ...(ends && { endedAt: new Date().toISOString() }),
    };
  });

function update(data: Pages, sessions: readonly Session[]): Pages {
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  return mapSessions(data, (session) => byId.get(session.sessionId) ?? session);
}

/** New sessions go where their start puts them; mostly that is the top. */
function prepend(data: Pages, fresh: readonly Session[]): Pages {
  const [first, ...rest] = data.pages;
  if (!first) return data;
  const ids = new Set(data.pages.flatMap((page) => page.sessions).map(({ sessionId }) => sessionId));
  const sessions = [...fresh.filter(({ sessionId }) => !ids.has(sessionId)), ...first.sessions];
  sessions.sort((a, b) => b.startedAt.localeCompare(a.startedAt) || b.sessionId.localeCompare(a.sessionId));
  return { ...data, pages: [{ ...first, sessions }, ...rest] };
}

/** Runs at once, then at most every `milliseconds`, the last call always being answered. */
function throttle(milliseconds: number, run: () => Promise<unknown>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const go = () => {
    timer = undefined;
    last = Date.now();
    // The next change tries again.
    void run().catch(() => {});
  };
  return () => {
    if (timer === undefined) timer = setTimeout(go, Math.max(0, last + milliseconds - Date.now()));
  };
}
