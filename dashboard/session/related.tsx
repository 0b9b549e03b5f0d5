import { Link } from '@tanstack/react-router';
import { GitFork } from 'lucide-react';
import { paths } from '../../contract/pages.ts';
import type { SessionFacts } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useSummary } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';
import { titleOf } from '../shared/session-title.ts';

const WORDS = {
  continues: 'continues',
  continuedBy: 'continued by',
  forkedFrom: 'forked from',
  forkedBy: 'forked by',
};

/** Sessions that this one came from or led to, each with links to open and to compare it. */
export function Related({ sessionId, related }: { sessionId: string; related: SessionFacts['related'] }) {
  if (related.length === 0) return null;
  return (
    <ul aria-label="Related sessions" className="flex min-w-30 flex-initial items-center gap-x-3.5 overflow-hidden">
      {related.map(({ relation, session }) => (
        <li key={`${relation}${session.sessionId}`} className="inline-flex min-w-0 items-center gap-1.5">
          <GitFork size={12} aria-hidden className="flex-none" />
          {WORDS[relation]}
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: session.sessionId }}
            search={{}}
            className="link min-w-0 max-w-72 truncate"
          >
            <Title session={session} />
          </Link>
          <Link to={paths.compare()} search={{ one: sessionId, other: session.sessionId }} className="link">
            compare
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The title of a related session. If it has none, its summary has a substitute. */
function Title({ session }: { session: Session }) {
  const { sessionId, eventCount } = session;
  const summary = useSummary(sessionId, eventCount).data ?? undefined;
  return showHidden(titleOf(session, summary));
}
