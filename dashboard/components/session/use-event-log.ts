import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Session } from '../../../contract/session.ts';
import { useApp } from '../../app.ts';
import { keys } from '../../queries.ts';
import { createEventLog, type EventLog } from '../../timeline/event-log.ts';

/** The events of a session, loading in the background and growing while it is live. */
export function useEventLog(session: Session, target: number | undefined): EventLog {
  const { api, live } = useApp();
  const client = useQueryClient();
  const { sessionId } = session;
  // Only what the page was opened with decides what is loaded first.
  const [opened] = useState({ eventCount: session.eventCount, target });
  const log = useMemo(
    () =>
      createEventLog({
        ...opened,
        fetchWindow: async (from, limit, signal) =>
          (await api.getEventWindow({ sessionId, query: { from: String(from), limit: String(limit) }, signal })).body
            .events,
      }),
    [api, sessionId, opened],
  );
  useSyncExternalStore(log.subscribe, log.version);

  useEffect(() => {
    const follow = async () => {
      const { session: current } = (await api.getSession({ sessionId })).body;
      client.setQueryData(keys.session(sessionId), current);
      log.grow(current.eventCount);
      if (log.error() !== undefined) log.retry();
    };
    const stops = [
      live.onChange((change) => {
        if (change.sessionId !== sessionId) return;
        const { status } = change;
        // Asked again, the service says that there is no such session, and the page with it.
        if (status === 'deleted') return void client.resetQueries({ queryKey: keys.session(sessionId) });
        log.grow(change.eventCount);
        client.setQueryData<Session>(
          keys.session(sessionId),
          (known) => known && { ...known, status, eventCount: Math.max(known.eventCount, change.eventCount) },
        );
        if (status !== 'active') void follow().catch(() => {});
      }),
      live.onOpen(() => void follow().catch(() => {})),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [api, live, client, log, sessionId]);

  return log;
}
