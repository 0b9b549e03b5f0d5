import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { LiveChange } from '../../contract/extensions.ts';
import type { Usage } from '../../contract/review.ts';
import { useApp } from '../app/app.ts';
import { readSummaries } from '../app/queries.ts';
import { gather, throttle } from '../app/throttle.ts';
import { changeRow } from '../shared/live-row.ts';

const SUMMARIES_EVERY = 2_000;
/** Reading all figures is more work, and nobody watches them by the second. */
const ALL_EVERY = 5_000;

/** Keeps the running sessions up to date, and reads all figures again when a session begins or ends. */
export function useLiveUsage(queryKey: readonly unknown[]): void {
  const { api, live } = useApp();
  const client = useQueryClient();
  useEffect(() => {
    const change = (make: (running: Usage['running']) => Usage['running']) =>
      client.setQueryData<Usage>(queryKey, (usage) => usage && { ...usage, running: make(usage.running) });
    const readAll = throttle(ALL_EVERY, () => client.invalidateQueries({ queryKey }));
    const readAgain = gather<string>(SUMMARIES_EVERY, async (sessionIds) => {
      const summaries = await readSummaries(api, sessionIds);
      change((running) =>
        running.map((row) => ({ ...row, summary: summaries.get(row.session.sessionId) ?? row.summary })),
      );
    });
    const onChange = (told: LiveChange) => {
      const running = client.getQueryData<Usage>(queryKey)?.running ?? [];
      const isKnown = running.some(({ session }) => session.sessionId === told.sessionId);
      if (isKnown && told.status === 'active') readAgain(told.sessionId);
      else readAll();
      change((rows) =>
        rows
          .flatMap((row) => (row.session.sessionId === told.sessionId ? changeRow(row, told, Date.now()) : row))
          .filter(({ session }) => session.status === 'active'),
      );
    };
    // When the stream opens for the first time, the figures are already being read.
    let isRead = live.state() === 'connecting';
    const onOpen = () => {
      if (!isRead) readAll();
      isRead = false;
    };
    const stops = [live.onChange(onChange), live.onOpen(onOpen)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [api, live, client, queryKey]);
}
