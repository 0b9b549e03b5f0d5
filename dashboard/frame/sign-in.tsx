import type { ReactNode } from 'react';
import { wordError } from '../app/api.ts';
import { ProviderAway } from '../app/auth.ts';
import type { End } from '../app/tabs.ts';
import { Button } from '../kit/button.tsx';
import { Wordmark } from './wordmark.tsx';

/** Shown if signing in takes long. */
export const SigningIn = () => (
  <Alone title="Signing you in…">
    <p className="text-muted">This is taking longer than usual.</p>
  </Alone>
);

export function SignedOut({ end = 'signed out', onSignIn }: { end?: End; onSignIn: () => void }) {
  return (
    <Alone title="You are signed out">
      <p className="text-muted">
        {end === 'another person'
          ? 'Another person has signed in in this browser.'
          : 'Machines still capture sessions. Sign in to read them.'}
      </p>
      <Button tone="primary" onClick={onSignIn}>
        Sign in
      </Button>
    </Alone>
  );
}

export function SignInFailed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { title, advice, small } = wordError(error);
  const insecure = !window.isSecureContext;
  const isAway = error instanceof TypeError || error instanceof ProviderAway;
  return (
    <Alone title={insecure ? 'This address is not secure' : isAway ? title : 'Sign-in did not succeed'}>
      <p className="text-muted">
        {insecure
          ? 'Browsers sign people in over https, or on localhost. Open the dashboard at such an address.'
          : isAway
            ? advice
            : `${title}. ${advice}`}
      </p>
      {small && <p className="font-mono text-12 text-muted">{small}</p>}
      <Button tone="primary" onClick={onRetry}>
        Try again
      </Button>
    </Alone>
  );
}

function Alone({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-full max-w-[420px] flex-col items-start justify-center gap-4 px-6">
      <title>{`${title} · Session Capture`}</title>
      <Wordmark />
      <h1 className="text-20">{title}</h1>
      {children}
    </main>
  );
}
