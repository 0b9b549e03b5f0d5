import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Environment } from '../../contract/environment.ts';
import { useIsAdmin } from '../app.ts';
import { nameOfEnvironment } from '../components/environment-name.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { Page } from '../components/page.tsx';
import { SessionsOf } from '../components/sessions-of.tsx';
import { paths } from '../paths.ts';
import { keys, useChange, useEnvironments } from '../queries.ts';
import { showHidden } from '../text/controls.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Empty, Waiting } from '../ui/notes.tsx';
import { Scroll } from '../ui/scroll.tsx';
import { Ago } from '../ui/time.tsx';

const PLATFORMS = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' };

export function EnvironmentsPage() {
  const environments = useEnvironments();
  const [revoking, setRevoking] = useState<Environment>();
  const rows = environments.data ?? [];
  return (
    <Page title="Environments" context="Machines on which sessions are captured.">
      {environments.isPending && <Waiting label="Loading environments" />}
      {environments.isError && <ErrorNote error={environments.error} onRetry={() => void environments.refetch()} />}
      {environments.isSuccess && rows.length === 0 && (
        <Empty title="No environments yet">
          <p>A machine appears here once it is set up.</p>
          <Link to={paths.welcome()} className="button" data-tone="primary">
            Connect a machine
          </Link>
        </Empty>
      )}
      {rows.length > 0 && <EnvironmentTable environments={rows} onRevoke={setRevoking} />}
      {revoking && <Revoke environment={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}

interface TableProps {
  environments: readonly Environment[];
  onRevoke: (environment: Environment) => void;
}

function EnvironmentTable({ environments, onRevoke }: TableProps) {
  const isAdmin = useIsAdmin();
  return (
    <Scroll className="overflow-x-auto" aria-label="Environments">
      <table className="table table-lines">
        <thead>
          <tr>
            <th>Name</th>
            <th>Host</th>
            <th>Platform</th>
            <th>Command line</th>
            <th>Last seen</th>
            <th>Status</th>
            <th>
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {environments.map((environment) => {
            const { environmentId, hostname, platform, serviceCliVersion, lastSeenAt, status } = environment;
            return (
              <tr key={environmentId} className={status === 'revoked' ? 'text-muted' : ''}>
                <td className="font-medium">
                  <SessionsOf of={{ machine: environmentId }}>{nameOfEnvironment(environment)}</SessionsOf>
                </td>
                <td className="text-muted">{showHidden(hostname)}</td>
                <td>{PLATFORMS[platform]}</td>
                <td className="text-muted">{showHidden(serviceCliVersion)}</td>
                <td className="text-muted" data-label="seen">
                  <Ago time={lastSeenAt} />
                </td>
                <td>{status}</td>
                <td className="text-right">
                  {isAdmin && status === 'active' && (
                    <Button
                      tone="danger"
                      size="small"
                      aria-label={`Revoke ${nameOfEnvironment(environment)}`}
                      onClick={() => onRevoke(environment)}
                    >
                      Revoke
                    </Button>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function Revoke({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const { environmentId } = environment;
  const revoke = useChange(
    (api, id: string) => api.revokeEnvironment({ environmentId: id }),
    [keys.environments, keys.allSessions],
  );
  return (
    <Confirm
      title={`Revoke ${nameOfEnvironment(environment)}`}
      action="Revoke"
      isPending={revoke.isPending}
      onConfirm={() => revoke.mutate(environmentId, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        Nothing is captured on it any more, and its open sessions are closed as failed. What was captured stays. A
        revoked environment never comes back.
      </p>
      {revoke.isError && <ErrorNote error={revoke.error} />}
    </Confirm>
  );
}
