import { Link, useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useEnvironments } from '../queries.ts';
import { formatCount, formatDuration, formatExact, formatShort } from '../ui/format.ts';
import { Scroll } from '../ui/scroll.tsx';
import { Ago, useNow } from '../ui/time.tsx';
import { useKeys } from '../ui/use-keys.ts';
import { AgentName } from './agent-name.tsx';
import { endOf, titleOf } from './session-title.ts';
import { StatusMark } from './status-mark.tsx';

interface Props {
  sessions: readonly Session[];
  summaries: ReadonlyMap<string, SessionSummary> | undefined;
}

/** One line a session; j and k walk over the lines, Enter opens. */
export function SessionTable({ sessions, summaries }: Props) {
  const environments = useEnvironments().data;
  const nameOf = (id: string) => {
    const found = environments?.find(({ environmentId }) => environmentId === id);
    return found?.displayName ?? found?.hostname ?? '';
  };
  const table = useRef<HTMLTableElement>(null);
  useKeys([
    ['j', () => walk(table.current, 1)],
    ['k', () => walk(table.current, -1)],
  ]);
  return (
    <Scroll className="overflow-x-auto" aria-label="Sessions">
      <table ref={table} className="table">
        <thead>
          <tr>
            <th>
              <span className="sr-only">Status</span>
            </th>
            <th>Title</th>
            <th>Agent</th>
            <th>Environment</th>
            <th>Branch</th>
            <th>Started</th>
            <th data-number>Duration</th>
            <th data-number>Events</th>
            <th data-number>Tokens</th>
            <th data-number>Errors</th>
            <th data-number>Redacted</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <SessionLine
              key={session.sessionId}
              session={session}
              summary={summaries?.get(session.sessionId)}
              environment={nameOf(session.environmentId)}
            />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface LineProps {
  session: Session;
  summary: SessionSummary | undefined;
  environment: string;
}

function SessionLine({ session, summary, environment }: LineProps) {
  const now = useNow();
  const navigate = useNavigate();
  const { sessionId, status, secretEnvironment } = session;
  const params = { sessionId };
  const title = titleOf(session, summary);
  const end = endOf(session, summary, now);
  return (
    <tr
      className="cursor-pointer"
      onClick={(event) =>
        event.target instanceof HTMLAnchorElement || void navigate({ to: '/sessions/$sessionId', params })
      }
    >
      <td className="w-6">
        <StatusMark status={status} />
      </td>
      <td className="w-full max-w-0 min-w-[260px]">
        <span className="flex items-center gap-2">
          {secretEnvironment === 'test' && <span className="tag text-test">test</span>}
          <Link
            to="/sessions/$sessionId"
            params={params}
            data-line
            className={`truncate rounded-sm ${title === 'Untitled session' ? 'text-muted' : 'font-medium'}`}
            title={title}
          >
            {title}
          </Link>
        </span>
      </td>
      <td>
        <AgentName agentId={session.agentId} />
      </td>
      <td className="text-muted">
        <Clip text={environment} />
      </td>
      <td className="text-muted">
        <Clip text={summary?.gitBranch ?? ''} />
      </td>
      <td className="text-muted">
        <Ago time={session.startedAt} />
      </td>
      <td data-number className="text-muted" title={`until ${formatExact(end)}`}>
        {formatDuration(end - Date.parse(session.startedAt))}
      </td>
      <td data-number>{formatCount(session.eventCount)}</td>
      <td data-number className="text-muted" title={tokensOf(summary)}>
        {summary ? formatShort(summary.inputTokens + summary.outputTokens) : ''}
      </td>
      <td data-number className={summary?.failures ? 'font-medium text-bad' : 'text-muted'}>
        {summary ? formatCount(summary.failures) : ''}
      </td>
      <td data-number className="text-muted">
        {summary ? formatCount(summary.redactions) : ''}
      </td>
    </tr>
  );
}

const Clip = ({ text }: { text: string }) => (
  <span className="block max-w-[150px] truncate" title={text}>
    {text}
  </span>
);

const tokensOf = (summary: SessionSummary | undefined): string | undefined =>
  summary && `${formatCount(summary.inputTokens)} in, ${formatCount(summary.outputTokens)} out`;

/** Moves the focus over the lines. */
function walk(table: HTMLElement | null, step: number): void {
  const lines = [...(table?.querySelectorAll<HTMLElement>('[data-line]') ?? [])];
  const at = lines.indexOf(document.activeElement as HTMLElement);
  lines[Math.min(lines.length - 1, Math.max(0, at + step))]?.focus();
}
