import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { paths } from '../../../contract/pages.ts';
import type { Session } from '../../../contract/session.ts';
import { type MemberPerson, useApp } from '../../app/app.ts';
import { until, useEnvironments, useInstallations, usePolicy, useResource, useSecrets } from '../../app/queries.ts';
import { showHidden } from '../../kit/text/controls.ts';
import { Ago } from '../../kit/time.tsx';
import { AgentName } from '../../shared/agent-name.tsx';
import { Step } from './step.tsx';

const isActive = ({ status }: { status: string }) => status === 'active';
const anyActive = until((things: { status: string }[]) => things.some(isActive));

/**
 * The steps, ticked from the state of the service, so that a reload shows the same. The page asks for missing things every
 * two seconds; the live stream announces sessions.
 */
export function Progress({ person }: { person: MemberPerson }) {
  const secret = useSecrets(anyActive).data?.find(isActive);
  const machine = latest(useEnvironments(anyActive).data);
  const agents = [
    ...new Set(
      useInstallations(anyActive)
        .data?.filter(isActive)
        .map(({ agentId }) => agentId),
    ),
  ];
  const session = useFirstSession();
  const isForAdmins = usePolicy().data?.signIn === 'admins';
  const confirms =
    person.role === 'member' && isForAdmins
      ? 'Issued when an owner or admin confirms the machine: send one of them the address that the terminal shows.'
      : 'Issued when you confirm the machine at the address that the terminal shows. You do not need to type it.';
  const come = [secret && 'a secret', machine && 'a machine', agents.length > 0 && 'an agent', session && 'a session'];
  return (
    <>
      <p role="status" className="sr-only">
        {come.some(Boolean) && `There is ${come.filter(Boolean).join(', ')}.`}
      </p>
      <ol aria-label="Steps" className="flex flex-col gap-5" start={2}>
        <Step number={2} title="Secret" isDone={!!secret}>
          {secret ? (
            <Fact>
              {showHidden(secret.name ?? `${secret.prefix}…${secret.lastFour}`)}, issued <Ago time={secret.createdAt} />
            </Fact>
          ) : (
            <Fact>{confirms}</Fact>
          )}
        </Step>
        <Step number={3} title="Machine" isDone={!!machine} isLater={!secret}>
          {machine ? (
            <Fact>
              {showHidden(machine.displayName ?? machine.hostname)}, seen <Ago time={machine.lastSeenAt} />
            </Fact>
          ) : (
            <Fact>
              Registered by <code>capture init</code>, which the line above runs.
            </Fact>
          )}
        </Step>
        <Step number={4} title="Agent" isDone={agents.length > 0} isLater={!machine}>
          {agents.length > 0 ? (
            <p className="flex flex-wrap gap-x-4 text-13">
              {agents.map((agentId) => (
                <AgentName key={agentId} agentId={agentId} />
              ))}
            </p>
          ) : (
            <Fact>Agents found on the machine.</Fact>
          )}
        </Step>
        <Step
          number={5}
          title={session ? 'The first session is here' : 'Session'}
          isDone={!!session}
          isLater={!machine}
        >
          {session ? (
            <Link to={paths.session(session.sessionId)} className="button mt-1 w-fit" data-tone="primary">
              Open the session
            </Link>
          ) : (
            <Fact>
              {machine && <span className="pulse mr-2 inline-block size-2 rounded-full bg-ok" />}
              Work with an agent on the machine: its session appears here by itself.
            </Fact>
          )}
        </Step>
      </ol>
    </>
  );
}

/** The same steps before the person has an organization. */
export function NoProgress() {
  return (
    <ol className="flex flex-col gap-5" start={2}>
      {['Secret', 'Machine', 'Agent', 'Session'].map((title, index) => (
        <Step key={title} number={index + 2} title={title} isLater />
      ))}
    </ol>
  );
}

/** The newest session, as soon as there is one. The live stream announces it. */
function useFirstSession(): Session | undefined {
  const { live } = useApp();
  const newest = useResource(['newest-session'], async (api, signal) => {
    const query = { limit: '1', secretEnvironment: 'all' } as const;
    return (await api.listSessions({ query, signal })).body.sessions[0] ?? null;
  });
  const { data, refetch } = newest;
  const isWaiting = !data;
  useEffect(() => {
    const look = () => void (isWaiting && refetch());
    const stops = [live.onChange(look), live.onOpen(look)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [live, refetch, isWaiting]);
  return data ?? undefined;
}

const Fact = ({ children }: { children: ReactNode }) => <p className="text-13 text-muted">{children}</p>;

const latest = <Thing extends { status: string; lastSeenAt: string }>(things: readonly Thing[] = []) =>
  things.filter(isActive).sort((one, other) => other.lastSeenAt.localeCompare(one.lastSeenAt))[0];
