import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowUp } from 'lucide-react';
import { useCallback, useMemo, useRef } from 'react';
import { ErrorNote } from '../components/error-note.tsx';
import { useLiveSessions } from '../components/live-sessions.ts';
import { NoSessions } from '../components/no-sessions.tsx';
import { Page } from '../components/page.tsx';
import { SessionFilters } from '../components/session-filters.tsx';
import { SessionTable } from '../components/session-table.tsx';
import { useSessions, useSummaries } from '../queries.ts';
import { Button } from '../ui/button.tsx';
import { plural } from '../ui/format.ts';
import { Waiting } from '../ui/notes.tsx';

export function SessionsPage() {
  const { plane, environment, agent } = useSearch({ from: '/sessions' });
  const filter = useMemo(() => ({ plane, environment, agent }), [plane, environment, agent]);
  const sessions = useSessions(filter);
  const area = useRef<HTMLDivElement>(null);
  const isReading = useCallback(() => area.current?.matches(':hover, :focus-within') ?? false, []);
  const { waiting, showWaiting } = useLiveSessions(filter, isReading);
  const rows = useMemo(() => sessions.data?.pages.flatMap((page) => page.sessions) ?? [], [sessions.data]);
  const ids = useMemo(() => rows.map(({ sessionId }) => sessionId), [rows]);
  const summaries = useSummaries(ids).data;
  const navigate = useNavigate();
  const narrow = (change: { environment?: string | undefined; agent?: string | undefined }) =>
    void navigate({ to: '/sessions', search: (search) => ({ ...search, ...change }) });

  return (
    <Page title="Sessions" context="What agents did on the machines of this organization, newest first." wide>
      <SessionFilters filter={filter} onChange={narrow} />
      {sessions.isPending && <Waiting label="Loading sessions" rows={12} />}
      {sessions.isError && rows.length === 0 && (
        <ErrorNote error={sessions.error} onRetry={() => void sessions.refetch()} />
      )}
      {sessions.isSuccess && rows.length === 0 && <NoSessions filter={filter} />}
      {rows.length > 0 && (
        <div ref={area} className="relative">
          {waiting > 0 && (
            <Button size="small" tone="primary" className="absolute top-9 left-1/2 z-10" onClick={showWaiting}>
              <ArrowUp size={14} aria-hidden />
              {plural(waiting, 'new session')}
            </Button>
          )}
          <SessionTable sessions={rows} summaries={summaries} />
          {sessions.hasNextPage && (
            <Button
              className="mt-4"
              disabled={sessions.isFetchingNextPage}
              onClick={() => void sessions.fetchNextPage()}
            >
              {sessions.isFetchingNextPage ? 'Loading…' : 'Load more'}
            </Button>
          )}
        </div>
      )}
    </Page>
  );
}
