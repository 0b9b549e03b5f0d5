import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { promptLine } from '../../contract/entry/value.ts';
import type { SessionFacts } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useFacts, useSession } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { formatCount, formatDuration, formatExact, formatShort, formatTokens, plural } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { useEventLog } from '../session/use-event-log.ts';
import { AgentName } from '../shared/agent-name.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { costOf } from '../shared/session-cost.ts';
import { titleOf } from '../shared/session-title.ts';

/** Compare sessions: a fork and where it came from, or two agents at one task. */
export function ComparePage() {
  const { one, other } = useSearch({ from: '/compare' });
  return (
    <Page title="Compare sessions">
      <div className="compare">
        <Place name="First" sessionId={one} beside={other} />
        <Place name="Second" sessionId={other} beside={one} />
      </div>
    </Page>
  );
}

const Place = ({ sessionId, ...rest }: Omit<SideProps, 'sessionId'> & { sessionId: string | undefined }) =>
  sessionId === undefined ? (
    <p className="text-muted">
      No session is chosen here. In the list of sessions, the menu of a row has “Compare with…”.
    </p>
  ) : (
    <Side key={sessionId} sessionId={sessionId} {...rest} />
  );

interface SideProps {
  /** Two sessions may have the same title. */
  name: string;
  sessionId: string;
  beside: string | undefined;
}

function Side({ name, sessionId, beside }: SideProps) {
  const session = useSession(sessionId);
  const facts = useFacts(sessionId, session.data?.eventCount ?? 0);
  const others = useFacts(beside ?? sessionId, 0).data;
  const error = session.error ?? facts.error;
  if (error) return <ErrorNote error={error} onRetry={() => void facts.refetch()} />;
  if (!session.data || !facts.data) return <p className="text-muted">Loading…</p>;
  return (
    <section aria-label={`${name}: ${titleOf(session.data, facts.data.summary)}`} className="min-w-0">
      <h2 className="truncate text-14">
        <Link to="/sessions/$sessionId" params={{ sessionId }} search={{}} className="link">
          {showHidden(titleOf(session.data, facts.data.summary))}
        </Link>
      </h2>
      <p className="mb-3 flex gap-3 text-12 text-muted">
        <AgentName agentId={session.data.agentId} />
        {formatExact(Date.parse(session.data.startedAt))}
      </p>
      <Figures {...facts.data} />
      <Prompts session={session.data} />
      <Files facts={facts.data} others={others} />
    </section>
  );
}

function Figures({ summary, contextWindow }: SessionFacts) {
  const { firstEventAt, lastEventAt } = summary;
  const took = firstEventAt && lastEventAt ? Date.parse(lastEventAt) - Date.parse(firstEventAt) : undefined;
  const rows: [name: string, value: ReactNode][] = [
    ['duration', took === undefined ? '–' : formatDuration(took)],
    ['prompts', formatCount(summary.prompts)],
    ['tool calls', formatCount(summary.toolCalls)],
    [
      'failures',
      <span key="f" className={summary.failures > 0 ? 'text-bad' : ''}>
        {formatCount(summary.failures)}
      </span>,
    ],
    ['lines', `+${formatCount(summary.linesAdded)} −${formatCount(summary.linesRemoved)}`],
    ['tokens in / out', `${formatTokens(summary.inputTokens)} / ${formatTokens(summary.outputTokens)}`],
    [
      'cost',
      <span key="c" title={costOf(summary).explain}>
        {costOf(summary).text || 'no price known'}
      </span>,
    ],
    ['model', showHidden(summary.model ?? '–') + (contextWindow ? ` · ${formatShort(contextWindow)} context` : '')],
  ];
  return (
    <dl className="compare-figures">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="num">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Prompts({ session }: { session: Session }) {
  const { timeline, isComplete } = useEventLog(session);
  return (
    <>
      <h3 className="mt-4 mb-1 text-13">Prompts</h3>
      <ol className="flex flex-col gap-1">
        {timeline.turns.slice(0, MOST).map(
          ({ prompt, calls, failures }) =>
            prompt && (
              <li key={prompt.sequence} className="flex gap-3">
                <Link
                  to="/sessions/$sessionId"
                  params={{ sessionId: session.sessionId }}
                  search={{ e: prompt.sequence }}
                  className="min-w-0 grow truncate hover:underline"
                >
                  {showHidden(promptLine(prompt.text)) || 'Image'}
                </Link>
                <span className="num flex-none text-12 text-muted">
                  {plural(calls, 'call')}
                  {failures > 0 && <span className="text-bad"> · {failures} failed</span>}
                </span>
              </li>
            ),
        )}
      </ol>
      {!isComplete && <p className="text-muted">Loading…</p>}
    </>
  );
}

/** Prompts and files of a session that are listed. */
const MOST = 200;

function Files({ facts, others }: { facts: SessionFacts; others: SessionFacts | undefined }) {
  const shared = new Set(others?.files.map(({ path }) => path));
  return (
    <>
      <h3 className="mt-4 mb-1 text-13">Files</h3>
      {facts.files.length === 0 && <p className="text-muted">None was edited.</p>}
      <ul className="flex flex-col gap-1">
        {facts.files.slice(0, MOST).map(({ path, added, removed }) => (
          <li key={path} className="flex gap-3">
            <span className="mono min-w-0 grow truncate text-left" dir="rtl" title={showHidden(path)}>
              <bdi>{showHidden(path)}</bdi>
            </span>
            {shared.has(path) && <span className="flex-none text-12 text-muted">in both</span>}
            <span className="num flex-none text-12">
              <span className="text-ok">+{formatCount(added)}</span>{' '}
              <span className="text-bad">−{formatCount(removed)}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
