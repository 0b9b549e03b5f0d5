import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode, useState } from 'react';
import { onboarding } from '../../contract/onboarding.ts';
import type { OfferedInvitation } from '../../contract/organization.ts';
import { isMember } from '../app.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { useFirstSession } from '../components/first-session.ts';
import { SecretValue, useIssueSecret } from '../components/issue-secret.tsx';
import { Wordmark } from '../components/wordmark.tsx';
import { paths } from '../paths.ts';
import { keys, useChange, usePersonQuery } from '../queries.ts';
import { Button } from '../ui/button.tsx';
import { CopyLine } from '../ui/copy.tsx';

/** From nothing to the first session, on one page. */
export function WelcomePage() {
  const person = usePersonQuery().data;
  const member = person && isMember(person) ? person : undefined;
  const issue = useIssueSecret();
  const mayIssue = member !== undefined && member.role !== 'member';
  const Frame = member ? 'div' : 'main';
  return (
    <Frame className="mx-auto flex max-w-[640px] flex-col gap-8 px-6 py-12">
      <title>Welcome · Session Capture</title>
      <header className="flex flex-col gap-3">
        {!member && <Wordmark />}
        <h1 className="text-20">{member ? 'Connect a machine' : 'Welcome'}</h1>
        <p className="text-muted">
          Session Capture records what coding agents do on your machines, and shows it here while it happens.
        </p>
      </header>
      <ol className="flex flex-col gap-8">
        <Step
          number={1}
          title={person?.invitations ? 'Join an organization, or create one' : 'Create your organization'}
          isDone={member !== undefined}
        >
          {member ? (
            <p className="text-muted">{member.organization.name}</p>
          ) : (
            <Beginning invitations={person?.invitations ?? []} isTaken={person?.emailTaken ?? false} />
          )}
        </Step>
        <Step number={2} title="Issue a secret" isDone={issue.data !== undefined} isLater={!member}>
          {member && !mayIssue && <p className="text-muted">Ask an owner or an admin of the organization for one.</p>}
          {mayIssue && issue.data && <SecretValue value={issue.data.value} />}
          {mayIssue && !issue.data && (
            <div className="flex flex-col items-start gap-3">
              <p className="text-muted">With it, a machine may send sessions. Its value is shown once.</p>
              <Button
                tone="primary"
                disabled={issue.isPending}
                onClick={() => issue.mutate({ name: 'first machine', secretEnvironment: 'live' })}
              >
                Issue a secret
              </Button>
            </div>
          )}
          {issue.isError && <ErrorNote error={issue.error} />}
        </Step>
        <Step number={3} title="Run this on the machine" isLater={!member}>
          <Commands />
        </Step>
        {member && <FirstSession />}
      </ol>
    </Frame>
  );
}

interface StepProps {
  number: number;
  title: string;
  isDone?: boolean;
  isLater?: boolean;
  children: ReactNode;
}

function Step({ number, title, isDone, isLater, children }: StepProps) {
  return (
    <li className="flex gap-4" aria-current={!isDone && !isLater ? 'step' : undefined}>
      <span
        className={`flex size-6 flex-none items-center justify-center rounded-full border text-12 ${
          isDone ? 'border-ok text-ok' : 'border-line-strong'
        }`}
      >
        {isDone ? '✓' : number}
      </span>
      <div className="flex min-w-0 grow flex-col gap-3">
        <h2 className={`text-14 leading-6 ${isLater ? 'text-muted' : ''}`}>{title}</h2>
        {!isLater && children}
      </div>
    </li>
  );
}

interface BeginningProps {
  invitations: readonly OfferedInvitation[];
  isTaken: boolean;
}

/** What somebody without an organization can do about it. */
function Beginning({ invitations, isTaken }: BeginningProps) {
  const accept = useChange(
    (api, organizationId: string) => api.acceptInvitation({ body: { organizationId } }),
    [keys.person],
  );
  if (isTaken) {
    return (
      <p className="text-muted">
        A member with your e-mail signs in with another account. Sign out, and sign in with that one. If the identity
        provider was changed, the operator can let members follow: see ADOPT_MEMBERS in the documentation.
      </p>
    );
  }
  if (invitations.length === 0) return <CreateOrganization />;
  return (
    <>
      <p className="text-muted">These invited you. You can belong to one; joining it declines the others.</p>
      <ul className="flex flex-col">
        {invitations.map(({ organizationId, organizationName, role }) => (
          <li key={organizationId} className="flex items-center gap-3 border-line border-b py-2">
            <span className="min-w-0 grow truncate">
              {organizationName} <span className="text-muted">as {role}</span>
            </span>
            <Button
              size="small"
              aria-label={`Join ${organizationName}`}
              disabled={accept.isPending}
              onClick={() => accept.mutate(organizationId)}
            >
              Join
            </Button>
          </li>
        ))}
      </ul>
      {accept.isError && <ErrorNote error={accept.error} />}
      <p className="text-muted">Or create your own, which declines all of them.</p>
      <CreateOrganization />
    </>
  );
}

function CreateOrganization() {
  const [name, setName] = useState('');
  const create = useChange((api, body: { name: string }) => api.createOrganization({ body }), [keys.person]);
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ name: name.trim() });
      }}
    >
      <label htmlFor="name" className="text-13 text-muted">
        Its name; you can change it later
      </label>
      <div className="flex gap-2">
        <input
          id="name"
          className="field"
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" tone="primary" disabled={create.isPending || name.trim() === ''}>
          Create
        </Button>
      </div>
      {create.isError && <ErrorNote error={create.error} />}
    </form>
  );
}

function Commands() {
  return (
    <div className="flex flex-col gap-3 text-muted">
      {onboarding(window.location.origin).map(({ about, command }) => (
        <Fragment key={command}>
          <p>{about}</p>
          <CopyLine text={command} label={`Copy: ${about}`} />
        </Fragment>
      ))}
    </div>
  );
}

function FirstSession() {
  const session = useFirstSession();
  return (
    <Step number={4} title={session ? 'The first session is here' : 'Waiting for the first session'} isDone={!!session}>
      <div aria-live="polite">
        {session ? (
          <Link to={paths.session(session.sessionId)} className="button" data-tone="primary">
            Open the session
          </Link>
        ) : (
          <p className="flex items-center gap-2 text-muted">
            <span className="pulse size-2 rounded-full bg-ok" />
            It appears here by itself.
          </p>
        )}
      </div>
    </Step>
  );
}
