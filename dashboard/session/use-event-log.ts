import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Session } from '../../contract/session.ts';
import { type App, useApp } from '../app/app.ts';
import { keys } from '../app/queries.ts';
import { createEventLog, type EventLog, type LogState, type Source } from './model/event-log.ts';

/**
 * The events of a session. They load in the background, and grow while the session is live.
 * @param edition when it grows, all events are read again, and replace the old ones once all of them are loaded
 */
export function useEventLog(session: Session, edition = 0): LogState & Pick<EventLog, 'retry'> {
  const app = useApp();
  const { api, live } = app;
  const client = useQueryClient();
  const { sessionId } = session;
  const eventCount = useRef(session.eventCount);
  eventCount.current = session.eventCount;
  const [log, setLog] = useState<EventLog>();

  useEffect(() => {
    const opening = createEventLog(createSource(app, sessionId), eventCount.current);
    const open = () => {
      // Events that were added in the meantime were only reported to the previous log.
      opening.grow(eventCount.current);
      setLog(opening);
    };
    if (edition === 0) open();
    else whenRead(opening, open);
    return opening.close;
  }, [app, sessionId, edition]);

  useEffect(() => {
    if (!log) return;
    const follow = async () => {
      const { session: current } = (await api.getSession({ sessionId })).body;
      client.setQueryData(keys.session(sessionId), current);
      log.grow(current.eventCount);
      if (log.state().error !== undefined) log.retry();
    };
    const stops = [
      live.onChange((change) => {
        if (change.sessionId !== sessionId) return;
        const { status } = change;
        // The session is read again, so that the page shows the service's answer that it does not exist.
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

  const shown = log ?? NOTHING_YET;
  const state = useSyncExternalStore(shown.subscribe, shown.state);
  return { ...state, retry: shown.retry };
}

function whenRead(log: EventLog, then: () => void): void {
  const stop = log.subscribe(() => {
    const { isComplete, error } = log.state();
    if (!isComplete && error === undefined) return;
    stop();
    then();
  });
}

const nothing: Source = {
  async *readIndex() {},
  readWindow: async () => [],
};
const NOTHING_YET = createEventLog(nothing, 0);

function createSource(app: App, sessionId: string): Source {
  return {
    readIndex: (from, signal) => app.indexes.read(sessionId, from, signal),
    async readWindow(from, limit, signal) {
      const query = { from: String(from), limit: String(limit) };
      return (await app.api.getEventWindow({ sessionId, query, signal })).body.events;
    },
  };
}
