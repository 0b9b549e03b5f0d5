import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { useApp } from '../app/app.ts';
import { isAnswering } from '../app/auth.ts';
import { paths } from '../app/paths.ts';
import { MissingCode } from '../kit/lazy.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { Page } from './page.tsx';

/** A page that could not be drawn, instead of an empty window. */
export function BrokenPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = useCallback(() => {
    reset();
    void router.invalidate();
  }, [reset, router]);
  if (error instanceof MissingCode) return <MissingPage error={error} />;
  return (
    <Page title="This page broke">
      {/* A type error of drawing is none of the network. */}
      <ErrorNote error={new Error(error instanceof Error ? error.message : String(error))} onRetry={again} />
    </Page>
  );
}

/** In milliseconds. A window that was only just loaded is not loaded again by itself. */
const JUST_LOADED = 10_000;

/** A page whose code is not here. The window is loaded anew for it, but only once there is somebody to answer. */
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
    <Page title="No such page" context="The address may be mistyped.">
      <Link to={paths.sessions()} className="link">
        See the sessions
      </Link>
    </Page>
  );
}
