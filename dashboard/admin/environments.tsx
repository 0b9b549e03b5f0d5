import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Environment } from '../../contract/environment.ts';
import { useIsAdmin } from '../app/app.ts';
import { paths } from '../app/paths.ts';
import { keys, useEnvironments, useMachineHealth } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { Empty } from '../kit/notes.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { nameOfEnvironment } from '../shared/environment-name.ts';
import { Health, VersionOf } from '../shared/machine-health.tsx';
import { ResourceTable } from '../shared/resource-table.tsx';
import { SessionsOf } from '../shared/sessions-of.tsx';

const PLATFORMS = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' };

export function EnvironmentsPage() {
  const environments = useEnvironments();
  const [revoking, setRevoking] = useState<Environment>();
  return (
    <Page title="Machines">
      <ResourceTable
        name="Machines"
        query={environments}
        empty={
          <Empty title="No machines yet">
            <p>A machine appears here once it is set up.</p>
            <Link to={paths.welcome()} className="button" data-tone="primary">
              Connect a machine
            </Link>
          </Empty>
        }
        heads={['Name', 'System', 'Last seen', 'Capture', 'Version']}
      >
        {(environment) => (
          <EnvironmentRow
            key={environment.environmentId}
            environment={environment}
            onRevoke={() => setRevoking(environment)}
          />
        )}
      </ResourceTable>
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
    </Page>
  );
}

function EnvironmentRow({ environment, onRevoke }: { environment: Environment; onRevoke: () => void }) {
  const isAdmin = useIsAdmin();
  const health = useMachineHealth().data?.get(environment.environmentId);
  const { environmentId, hostname, platform, serviceCliVersion, lastSeenAt, status } = environment;
  const name = nameOfEnvironment(environment);
  return (
    <tr className={status === 'revoked' ? 'text-muted' : ''}>
      <td className="font-medium">
        <SessionsOf of={{ machine: environmentId }}>{name}</SessionsOf>
        {showHidden(hostname) !== name && <span className="font-normal text-muted"> {showHidden(hostname)}</span>}
      </td>
      <td>{PLATFORMS[platform]}</td>
      <td className="text-muted" data-label="seen">
        <Ago time={lastSeenAt} />
      </td>
      <td data-label="capture">{status === 'revoked' ? 'revoked' : <Health health={health} />}</td>
      <td>
        <VersionOf version={showHidden(serviceCliVersion)} health={health} />
      </td>
      <td className="text-right">
        {isAdmin && status === 'active' && (
          <Button tone="danger" size="small" aria-label={`Revoke ${name}`} onClick={onRevoke}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}
