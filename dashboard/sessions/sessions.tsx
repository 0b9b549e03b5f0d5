import './sessions.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowUp } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { paths } from '../../contract/pages.ts';
import { parseQuery } from '../../contract/query.ts';
import type { Session } from '../../contract/session.ts';
import { formatQuery } from '../../contract/written-query.ts';
import { SCREENFUL, type SessionRow, type SessionSearch, useSession, useSessions } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { hrefOf } from '../kit/base-path.ts';
import { Button } from '../kit/button.tsx';
import { formatCount, plural } from '../kit/format.ts';
import { Waiting } from '../kit/notes.tsx';
import { useKeys } from '../kit/use-keys.ts';
import { DeleteDialog } from '../shared/delete-dialog.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { NoSessions } from '../shared/no-sessions.tsx';
import { titleOf } from '../shared/session-title.ts';
import { StatusLegend } from '../shared/status-mark.tsx';
import { rowsOf } from './live-rows.ts';
import { Preview } from './preview.tsx';
import { QueryBar } from './query-bar.tsx';
import { RowMenu } from './row-menu.tsx';
import { SessionList } from './session-list.tsx';
import { useKnownValues } from './use-known-values.ts';
import { useLiveSessions } from './use-live-sessions.ts';
import { ViewMenu } from './view-menu.tsx';

/** The value of `previewed` after the preview was closed. */
const NONE = 'none';

/** The page that searches and lists sessions. */
export function SessionsPage() {
  const { plane, q, order, direction, compare } = useSearch({ from: '/sessions' });
  const search = useMemo<SessionSearch>(() => ({ plane, q, order, direction }), [plane, q, order, direction]);
  const sessions = useSessions(search);
  const area = useRef<HTMLDivElement>(null);
  const isReading = useCallback(() => area.current?.matches(':hover, :focus-within') ?? false, []);
  const { waiting, showWaiting } = useLiveSessions(search, isReading);
  const rows = useMemo(() => rowsOf(sessions.data), [sessions.data]);
  const [previewed, setPreviewed] = useState<string>();
  const [deleting, setDeleting] = useState<Session>();
  const [isAsking, setAsking] = useState(false);
  const known = useKnownValues(rows, plane, isAsking);
  const navigate = useNavigate();
  const go = useCallback(
    (change: Partial<SessionSearch>, isTyping = false) =>
      void navigate({ to: '/sessions', search: (before) => ({ ...before, ...change }), replace: isTyping }),
    [navigate],
  );
  const setCompared = useCallback(
    (sessionId: string | undefined) =>
      void navigate({ to: '/sessions', search: (before) => ({ ...before, compare: sessionId }), replace: true }),
    [navigate],
  );
  const compared = useCompared(compare, rows);
  const words = useMemo(() => {
    const { terms } = parseQuery(q ?? '');
    return formatQuery({ terms, filters: [] });
  }, [q]);
  const addressOf = useCallback(
    (sessionId: string, sequence?: number) =>
      hrefOf(paths.session(sessionId, sequence, { find: words || undefined, plane })),
    [words, plane],
  );
  // On a very wide screen, the first session is previewed until the person closes the preview.
  const isVast = useMemo(() => window.innerWidth >= 2000, []);
  const preview =
    rows.find(({ session }) => session.sessionId === previewed) ??
    (isVast && previewed === undefined ? rows[0] : undefined);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = sessions;
  const isSearching = sessions.isPlaceholderData || (isFetchingNextPage && rows.length < SCREENFUL);
  const progress = hasNextPage ? sessions.data?.pages.at(-1)?.progress : undefined;
  const onEnd = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  const menu = useCallback(
    (row: SessionRow, isCurrent: boolean) => (
      <RowMenu
        row={row}
        isCurrent={isCurrent}
        onPreview={() => setPreviewed(row.session.sessionId)}
        besides={compared && compared.sessionId !== row.session.sessionId ? compared.title : undefined}
        onCompare={() => {
          const [one, other] = [compared?.sessionId, row.session.sessionId];
          if (one === undefined || one === other) setCompared(other);
          else void navigate({ to: paths.compare(), search: { one, other } });
        }}
        onNarrow={(field, value) => go({ q: formatQuery({ terms: [], filters: [{ field, value }] }) })}
        onDelete={() => setDeleting(row.session)}
      />
    ),
    [go, navigate, compared, setCompared],
  );
  useKeys([['Escape', () => (compared ? setCompared(undefined) : setPreviewed(NONE))]]);

  return (
    <Page title="Sessions" wide>
      <QueryBar
        q={q ?? ''}
        known={known}
        foundProblems={sessions.data?.pages[0]?.problems ?? []}
        onEnter={() => setAsking(true)}
        onChange={(next, isTyping) => go({ q: next || undefined }, isTyping)}
        onLeave={() => area.current?.querySelector<HTMLElement>('[data-session][tabindex="0"]')?.focus()}
      >
        <ViewMenu search={search} />
      </QueryBar>
      {/* A fixed height, so that messages here do not move the list. */}
      <div className="flex min-h-11 max-w-[2280px] flex-wrap items-center gap-x-4 gap-y-1 px-2 py-1 text-12/5 text-muted *:flex *:flex-wrap *:items-center *:gap-x-4 *:gap-y-1">
        <div role="status">
          {sessions.isSuccess && rows.length > 0 && (
            <span className="num">
              {hasNextPage ? `${formatCount(rows.length)}+ sessions` : plural(rows.length, 'session')}
            </span>
          )}
          {sessions.data?.pages.some(({ catchingUp }) => catchingUp) && (
            <span>Indexing: recent events may be missing from these results.</span>
          )}
          {progress && !sessions.isPlaceholderData && (
            <span className="num">
              Searched {formatCount(progress.searched)} of {plural(progress.sessions, 'session')}
            </span>
          )}
          {isSearching ? <span>Searching…</span> : isFetchingNextPage && <span>Loading more…</span>}
          {compared && (
            <span>
              Comparing “{compared.title}”. Pick another session from its menu.{' '}
              <button type="button" className="link" onClick={() => setCompared(undefined)}>
                Cancel
              </button>
            </span>
          )}
          {waiting > 0 && (
            <Button size="small" tone="primary" onClick={showWaiting}>
              <ArrowUp size={14} aria-hidden />
              {plural(waiting, 'new session')}
            </Button>
          )}
        </div>
        {rows.length > 0 && <StatusLegend sessions={rows} />}
      </div>
      {sessions.isPending && <Waiting label="Loading sessions" rows={12} />}
      {sessions.isError && <ErrorNote error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {sessions.isSuccess && rows.length === 0 && hasNextPage && <Waiting label="Searching" rows={12} />}
      {sessions.isSuccess && rows.length === 0 && !hasNextPage && <NoSessions q={q} plane={plane} />}
      {rows.length > 0 && (
        <div
          ref={area}
          className="max-w-[2280px] aria-busy:opacity-60 min-[1000px]:data-preview:grid min-[1000px]:data-preview:grid-cols-[minmax(0,1fr)_clamp(320px,28vw,640px)] min-[1000px]:data-preview:gap-6"
          data-preview={preview !== undefined || undefined}
          aria-busy={sessions.isPlaceholderData}
        >
          <SessionList
            rows={rows}
            search={search}
            isOrdered={order !== undefined || words === ''}
            addressOf={addressOf}
            previewed={preview?.session.sessionId}
            onPreview={(sessionId = NONE) => setPreviewed(sessionId)}
            onOrder={go}
            onEnd={onEnd}
            hasMore={hasNextPage}
            menu={menu}
          />
          {preview && <Preview key={preview.session.sessionId} row={preview} onClose={() => setPreviewed(NONE)} />}
        </div>
      )}
      {deleting && (
        <DeleteDialog
          session={deleting}
          onDeleted={() => setDeleting(undefined)}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </Page>
  );
}

/** The session to compare another one with, even if it is not in the list. */
function useCompared(sessionId: string | undefined, rows: readonly SessionRow[]) {
  const row = rows.find(({ session }) => session.sessionId === sessionId);
  const session = useSession(sessionId ?? '', sessionId !== undefined && !row).data ?? row?.session;
  const summary = row?.summary;
  return useMemo(
    () => (sessionId && session ? { sessionId, title: titleOf(session, summary).slice(0, 40) } : undefined),
    [sessionId, session, summary],
  );
}
