import { Link, useParams } from '@tanstack/react-router';
import { ErrorNote } from '../components/error-note.tsx';
import { Page } from '../components/page.tsx';
import { SessionView } from '../components/session/session-view.tsx';
import { paths } from '../paths.ts';
import { useSession } from '../queries.ts';

export function SessionPage() {
  const { sessionId } = useParams({ from: '/sessions/$sessionId' });
  const session = useSession(sessionId);
  if (session.data) return <SessionView key={sessionId} session={session.data} />;
  if (session.isPending) return <p className="sr-only">Loading the session</p>;
  return (
    <Page title="Session">
      <ErrorNote error={session.error} onRetry={() => void session.refetch()} />
      <Link to={paths.sessions()} className="link mt-4 inline-block">
        All sessions
      </Link>
    </Page>
  );
}
