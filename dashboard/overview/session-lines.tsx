import { Link } from '@tanstack/react-router';
import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { AgentMark } from '../shared/agent-name.tsx';
import { useMachineNames } from '../shared/group-names.ts';
import { useOwnerOf } from '../shared/person-name.tsx';
import { useRepositoryName } from '../shared/repository-name.tsx';
import { titleOf } from '../shared/session-title.ts';
import { ShapeStrip } from '../shared/shape-strip.tsx';
import { StatusMark } from '../shared/status-mark.tsx';

interface Props {
  lines: readonly { session: Session; summary: SessionSummary; tags: readonly { text: string; isBad?: boolean }[] }[];
}

/** Without any of these, the title is the folder already. */
const isNamed = ({ title }: Session, summary: SessionSummary) =>
  Boolean(title ?? summary.title ?? summary.firstPrompt ?? summary.firstCommand);

/** Sessions in short: title, person, repository, strip, and the reasons why they are listed. */
export function SessionLines({ lines }: Props) {
  const machines = useMachineNames();
  const ownerOf = useOwnerOf();
  const nameOfRepository = useRepositoryName();
  return (
    <ul>
      {lines.map(({ session, summary, tags }) => (
        <li key={session.sessionId}>
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: session.sessionId }}
            className="-mx-1.5 flex min-h-8 items-center gap-2 rounded-sm px-1.5 text-13 hover:bg-hover hover:no-underline max-md:[&_.shape-strip]:hidden"
          >
            {session.status === 'active' ? (
              <StatusMark session={session} summary={summary} />
            ) : (
              <AgentMark agentId={session.agentId} />
            )}
            <span className="min-w-0 grow truncate">
              {titleOf(session, summary)}
              <span className="text-muted">
                {' '}
                {[
                  ownerOf(summary, machines.get(session.environmentId)),
                  isNamed(session, summary) && summary.repository && nameOfRepository(summary.repository),
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </span>
            <ShapeStrip shape={summary.shape} />
            <span className="flex min-w-[190px] flex-none justify-end gap-1 [&_.tag]:border-line [&_.tag]:font-normal num">
              {tags.map(({ text, isBad }) => (
                <span key={text} className={isBad ? 'tag text-bad' : 'tag'}>
                  {text}
                </span>
              ))}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
