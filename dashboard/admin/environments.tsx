import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Environment, MachineHealth } from '../../contract/environment.ts';
import { paths } from '../../contract/pages.ts';
import { useIsAdmin } from '../app/app.ts';
import { keys, useEnvironments, useMachineHealth } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { formatExact, plural } from '../kit/format.ts';
import { Empty } from '../kit/notes.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago, useNow } from '../kit/time.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { nameOfEnvironment, SYSTEMS } from '../shared/environment-name.ts';
import { Health, VersionOf } from '../shared/machine-health.tsx';
import { SessionsOf } from '../shared/sessions-of.tsx';
import { wordComparison } from './gap-words.ts';
import { Gaps } from './gaps.tsx';
import { ChoosePerson, MachinePerson, PersonActions } from './machine-person.tsx';
import { ResourcePage } from './resource-page.tsx';

export function EnvironmentsPage() {
  const isAdmin = useIsAdmin();
  const health = useMachineHealth().data;
  const [choosing, setChoosing] = useState<Environment>();
  const [revoking, setRevoking] = useState<Environment>();
  return (
    <ResourcePage
      title="Machines"
      query={useEnvironments()}
      empty={
        <Empty title="No machines yet">
          <p>A machine appears here once it is set up.</p>
          <Link to={paths.welcome()} className="button" data-tone="primary">
            Connect a machine
          </Link>
        </Empty>
      }
      above={health && health.size > 0 && <Gaps machines={[...health.values()]} />}
      wordsOf={({ displayName = '', hostname }) => `${displayName} ${hostname}`}
      keyOf={({ environmentId }) => environmentId}
      isMuted={({ status }) => status === 'revoked'}
      columns={[
        { head: 'Name', wraps: true, cell: (environment) => <Name environment={environment} /> },
        { head: 'System', cell: ({ platform }) => SYSTEMS[platform] },
        { head: 'Person', wraps: true, cell: (machine) => <MachinePerson machine={machine} /> },
        { head: 'Last seen', label: 'seen', isMuted: true, cell: ({ lastSeenAt }) => <Ago time={lastSeenAt} /> },
        {
          head: 'Capture',
          label: 'capture',
          wraps: true,
          cell: ({ status, environmentId }) =>
            status === 'revoked' ? 'revoked' : <Health health={health?.get(environmentId)} />,
        },
        {
          head: 'Compared',
          label: 'compared',
          wraps: true,
          explain: 'The result of the last capture verify --all on that machine',
          cell: ({ environmentId }) => <Compared health={health?.get(environmentId)} />,
        },
        {
          head: 'Version',
          cell: (machine) => <VersionOf machine={machine} health={health?.get(machine.environmentId)} />,
        },
        {
          head: 'Actions',
          isActions: true,
          cell: (environment) => (
            <>
              <PersonActions machine={environment} onChoose={() => setChoosing(environment)} />
              {isAdmin && environment.status === 'active' && (
                <Button
                  tone="danger"
                  size="small"
                  aria-label={`Revoke ${nameOfEnvironment(environment)}`}
                  onClick={() => setRevoking(environment)}
                >
                  Revoke
                </Button>
              )}
            </>
          ),
        },
      ]}
    >
      {choosing && <ChoosePerson machine={choosing} onClose={() => setChoosing(undefined)} />}
      {revoking && (
        <Confirm
          title={`Revoke ${nameOfEnvironment(revoking)}`}
          action="Revoke"
          run={(api) => api.revokeEnvironment({ environmentId: revoking.environmentId })}
          touches={[keys.environments, keys.allSessions]}
          onDone={() => setRevoking(undefined)}
          onClose={() => setRevoking(undefined)}
        >
          Capture stops on {nameOfEnvironment(revoking)}, and its open sessions close as failed. Recorded sessions stay.
          This cannot be undone.
        </Confirm>
      )}
    </ResourcePage>
  );
}

function Name({ environment }: { environment: Environment }) {
  const { environmentId, hostname } = environment;
  const name = nameOfEnvironment(environment);
  return (
    <>
      <strong>
        <SessionsOf of={{ machine: environmentId }}>{name}</SessionsOf>
      </strong>
      {showHidden(hostname) !== name && <span className="text-muted"> {showHidden(hostname)}</span>}
    </>
  );
}

/** The result of a machine's last comparison with the service. */
function Compared({ health }: { health: MachineHealth | undefined }) {
  const now = useNow();
  const { comparison } = health ?? {};
  if (comparison === undefined) return <span className="text-muted">never</span>;
  const { comparedAt, problems, sessions, records } = comparison;
  const compared = `${plural(records, 'record')} of ${plural(sessions, 'session')} compared ${formatExact(Date.parse(comparedAt))}`;
  return (
    <span className={problems.length > 0 ? 'text-warn' : 'text-muted'} title={compared}>
      {wordComparison(comparison, now)}
    </span>
  );
}
