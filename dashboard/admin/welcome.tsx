import { useEffect, useRef } from 'react';
import { isMember } from '../app/app.ts';
import { usePersonQuery } from '../app/queries.ts';
import { AlonePage } from '../frame/alone.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Commands } from './welcome/commands.tsx';
import { Beginning } from './welcome/organization.tsx';
import { NoProgress, Progress } from './welcome/progress.tsx';
import { Step } from './welcome/step.tsx';

/** Leads a person from the sign-up to the first session, on one page. */
export function WelcomePage() {
  const person = usePersonQuery().data;
  const member = person && isMember(person) ? person : undefined;
  const isMade = member !== undefined;
  const wasMade = useRef(isMade);
  const lead = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The form that had the focus is gone once the organization exists.
    if (isMade && !wasMade.current) lead.current?.focus();
  }, [isMade]);
  return (
    <AlonePage
      title="Connect a machine"
      about="Session Capture records what coding agents do on your machines, and shows it here while it happens."
      isMember={isMade}
    >
      <ol className="flex flex-col gap-5">
        <Step
          number={1}
          title={member || !person?.invitations ? 'Organization' : 'Join an organization, or create one'}
          isDone={isMade}
        >
          {member ? (
            <p className="text-13 text-muted">{showHidden(member.organization.name)}</p>
          ) : (
            <Beginning
              invitations={person?.invitations ?? []}
              isTaken={person?.emailTaken ?? false}
              mustVerify={person?.mustVerifyEmail ?? false}
            />
          )}
        </Step>
      </ol>
      {member && (
        <section aria-labelledby="line" className="flex flex-col gap-3 border-line border-y py-6">
          <h2 id="line" ref={lead} tabIndex={-1} className="text-16">
            Run this on the machine
          </h2>
          <Commands mayIssue={member.role !== 'member'} />
        </section>
      )}
      {member ? <Progress person={member} /> : <NoProgress />}
    </AlonePage>
  );
}
