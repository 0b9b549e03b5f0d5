import { Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import { paths } from '../../contract/pages.ts';
import { isMember, PersonProvider } from '../app/app.ts';
import { lostMembership } from '../app/membership.ts';
import { usePersonQuery } from '../app/queries.ts';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { Shell } from './shell.tsx';

/** Pages that are shown without the frame. */
const ALONE = new Set([paths.welcome(), paths.device()]);

/** Shows pages to members, and sends a person without an organization to the welcome page. */
export function Gate() {
  const person = usePersonQuery();
  // The path of the page on screen: while the next page loads, the location is already the next page's.
  const pathname = useRouterState({ select: ({ matches }) => matches.at(-1)?.pathname });
  if (person.isPending) return null;
  if (person.isError && !person.data) {
    return (
      <main className="mx-auto max-w-[560px] px-6 py-24">
        <ErrorNote error={person.error} onRetry={() => void person.refetch()} />
      </main>
    );
  }
  const lost = lostMembership(person.data);
  const member = isMember(person.data) ? person.data : undefined;
  if (!member && pathname !== paths.welcome()) return <Navigate to={paths.welcome()} replace />;
  return (
    <PersonProvider value={member}>
      {lost !== undefined && (
        <p role="status" className="mx-auto mt-6 max-w-[592px] rounded-md bg-bad-wash px-4 py-3">
          You are no longer a member of {showHidden(lost)}. Its sessions stay there, including yours. To come back, ask
          an owner or an admin for an invitation.
        </p>
      )}
      {ALONE.has(pathname ?? '') ? (
        <Outlet />
      ) : (
        <Shell>
          <Outlet />
        </Shell>
      )}
    </PersonProvider>
  );
}
