import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { paths } from '../../contract/pages.ts';
import { useApp } from '../app/app.ts';
import { isAnswering } from '../app/auth.ts';
import { MissingCode } from '../kit/lazy.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { Page } from './page.tsx';

/** Shown in place of a page that failed to render. */
export function BrokenPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = useCallback(() => {
    reset();
    void router.invalidate();
  }, [reset, router]);
  if (error instanceof MissingCode) return <MissingPage error={error} />;
  return (
    <Page title="This page could not be shown">
      {/* A new error, since a TypeError would be reported as a network failure. */}
      <ErrorNote error={new Error(error instanceof Error ? error.message : String(error))} onRetry={again} />
    </Page>
  );
}

/** In milliseconds. A window that was loaded this recently does not reload by itself, or it could reload forever. */
const JUST_LOADED = 10_000;

/** A page whose code failed to load. The window is reloaded once the service answers. */
function MissingPage({ error }: { error: MissingCode }) {
  const { live } = useApp();
  const [isTrying, setTrying] = useState(false);
  const loadAnew = useCallback(async () => {
    setTrying(true);
    if (await isAnswering()) window.location.reload();
    else setTrying(false);
  }, []);
  useEffect(() => {
    if (performance.now() > JUST_LOADED) void loadAnew();
    return live.onOpen(() => void loadAnew());
  }, [live, loadAnew]);
  return (
    <Page title="This page could not be loaded">
      <ErrorNote error={error} onRetry={() => void loadAnew()} isRetrying={isTrying} />
    </Page>
  );
}

export function LostPage() {
  return (
    <Page title="Page not found" context="The address may be mistyped.">
      <Link to={paths.sessions()} className="link">
        See the sessions
      </Link>
    </Page>
  );
}
