import { Link } from '@tanstack/react-router';
import { ErrorNote } from '../components/error-note.tsx';
import { Page } from '../components/page.tsx';
import { paths } from '../paths.ts';

/** A page that could not be drawn, instead of an empty window. */
export function BrokenPage({ error }: { error: unknown }) {
  return (
    <Page title="This page broke">
      <ErrorNote error={error} onRetry={() => window.location.reload()} />
    </Page>
  );
}

export function LostPage() {
  return (
    <Page title="No such page" context="The address may be mistyped.">
      <Link to={paths.sessions()} className="link">
        See the sessions
      </Link>
    </Page>
  );
}
