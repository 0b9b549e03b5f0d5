import { Link, useParams } from '@tanstack/react-router';
import { useLayoutEffect } from 'react';
import { paths } from '../../contract/pages.ts';
import { useSession } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { SessionView } from './session-view.tsx';

export function SessionPage() {
  const { sessionId } = useParams({ from: '/sessions/$sessionId' });
  const { data: session, error, refetch } = useSession(sessionId);
  const plane = session?.secretEnvironment;
  // The frame styles itself by this attribute. A `:has()` selector would be evaluated for each row that is added or removed.
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    if (plane) dataset.sessionPlane = plane;
    return () => {
      delete dataset.sessionPlane;
    };
  }, [plane]);
  if (session) return <SessionView key={sessionId} session={session} />;
  if (!error) return <p className="sr-only">Loading the session</p>;
  return (
    <Page title="Session">
      <ErrorNote error={error} onRetry={() => void refetch()} />
      <Link to={paths.sessions()} className="link mt-4 inline-block">
        All sessions
      </Link>
    </Page>
  );
}
