import { Link, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { ErrorNote } from '../components/error-note.tsx';
import { useLiveSessions } from '../components/live-sessions.ts';
import { NoSessions } from '../components/no-sessions.tsx';
import { DayPlot, DayTable } from '../components/overview/day-plot.tsx';
import { sumByDay } from '../components/overview/days.ts';
import { Page } from '../components/page.tsx';
import { SessionTable } from '../components/session-table.tsx';
import { paths } from '../paths.ts';
import { useSessions, useSummaries } from '../queries.ts';
import { Waiting } from '../ui/notes.tsx';
import { useNow } from '../ui/time.tsx';

const RECENT = 8;

/** The latest sessions, and what they add up to by day. */
export function OverviewPage() {
  const { plane } = useSearch({ from: '__root__' });
  const filter = useMemo(() => ({ plane }), [plane]);
  const sessions = useSessions(filter);
  useLiveSessions(
    filter,
    useCallback(() => false, []),
  );
  const now = useNow();
  const rows = useMemo(() => sessions.data?.pages.flatMap((page) => page.sessions) ?? [], [sessions.data]);
  const summaries = useSummaries(useMemo(() => rows.map(({ sessionId }) => sessionId), [rows])).data;
  const days = useMemo(() => sumByDay(rows, summaries ?? new Map(), now), [rows, summaries, now]);
  const isPartial = sessions.hasNextPage;

  return (
    <Page title="Overview" context="The latest sessions, and what they add up to.">
      {sessions.isPending && <Waiting label="Loading sessions" />}
      {sessions.isError && rows.length === 0 && (
        <ErrorNote error={sessions.error} onRetry={() => void sessions.refetch()} />
      )}
      {sessions.isSuccess && rows.length === 0 && <NoSessions filter={filter} />}
      {rows.length > 0 && (
        <>
          <section aria-label="By day" className="mb-8 flex flex-col gap-3">
            <div className="grid grid-cols-3 gap-8 max-sm:grid-cols-1">
              <DayPlot title="Sessions" days={days} figureOf={({ sessions: count }) => count} />
              <DayPlot
                title="Tool calls, failed ones red"
                days={days}
                figureOf={({ toolCalls }) => toolCalls}
                failedOf={({ failures }) => failures}
              />
              <DayPlot title="Tokens" days={days} figureOf={({ tokens }) => tokens} />
            </div>
            {isPartial && <p className="text-12 text-muted">Counted over the latest {rows.length} sessions.</p>}
            <DayTable days={days} />
          </section>
          <section aria-labelledby="recent">
            <div className="mb-1 flex items-baseline justify-between">
              <h2 id="recent" className="text-14">
                Recent sessions
              </h2>
              <Link to={paths.sessions()} className="link text-13">
                All sessions
              </Link>
            </div>
            <SessionTable sessions={rows.slice(0, RECENT)} summaries={summaries} />
          </section>
        </>
      )}
    </Page>
  );
}
