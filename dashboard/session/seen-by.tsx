import type { Look, SessionView } from '../../contract/session-view.ts';
import { useIsAdmin, usePerson } from '../app/app.ts';
import { useSessionViews } from '../app/queries.ts';
import { Ago } from '../kit/time.tsx';
import { useNameOf } from '../shared/person-name.tsx';
import { HeaderDetails } from './header-details.tsx';

const WORDS: Record<Look, string> = {
  opened: 'opened it',
  exported: 'downloaded or printed it, or read all of its events',
  found: 'saw parts of it in a search',
};

interface Props {
  sessionId: string;
  /** The person of the session. */
  userId: string | undefined;
}

/** Shows the person of a session who looked at it. If the session belongs to nobody, it shows admins. */
export function SeenBy({ sessionId, userId }: Props) {
  const person = usePerson();
  const isAdmin = useIsAdmin();
  const isTheirs = userId === undefined ? isAdmin : userId === person.userId;
  return isTheirs ? <Views sessionId={sessionId} /> : null;
}

function Views({ sessionId }: { sessionId: string }) {
  const { data } = useSessionViews(sessionId);
  const nameOf = useNameOf();
  if (!data) return null;
  const { isRecorded, views } = data;
  if (views.length === 0) {
    return isRecorded ? null : (
      <span className="min-w-30 flex-initial truncate">This organization does not record who looks at sessions.</span>
    );
  }
  const names = [...new Set(views.map((view) => nameOf(view.userId)))];
  return (
    <HeaderDetails
      label="Who looked"
      summary={
        <>
          Seen by {names.slice(0, 3).join(', ')}
          {names.length > 3 && ` and ${names.length - 3} more`}
        </>
      }
    >
      {views.map((view) => (
        <li key={`${view.userId} ${view.kind} ${view.firstAt}`}>
          {nameOf(view.userId)} {wordLooks(view)} <Ago time={view.lastAt} />{' '}
          <span className="text-muted">
            from {view.surface === 'api' ? 'a program' : 'a browser'} in {view.network}
          </span>
        </li>
      ))}
      {!isRecorded && <li className="text-muted">This organization no longer records who looks at sessions.</li>}
    </HeaderDetails>
  );
}

const wordLooks = ({ kind, count }: SessionView) => `${WORDS[kind]}${count > 1 ? ` ${count} times` : ''}`;
