import type { AgentDefinition, Installation } from '../../contract/agent.ts';
import { useIsAdmin } from '../app/app.ts';
import { keys, useCatalog, useChange, useEnvironments, useInstallations } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { CopyLine } from '../kit/copy.tsx';
import { Empty } from '../kit/notes.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { AgentName } from '../shared/agent-name.tsx';
import { nameOfEnvironment } from '../shared/environment-name.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { ResourceTable } from '../shared/resource-table.tsx';
import { SessionsOf } from '../shared/sessions-of.tsx';

export function AgentsPage() {
  const installations = useInstallations();
  const catalog = useCatalog();
  const environments = useEnvironments().data;
  const change = useChange(
    (api, { installationId, status }: Pick<Installation, 'installationId' | 'status'>) =>
      api.updateInstallation({ installationId, body: { status } }),
    [keys.installations],
  );
  const nameOf = (id: string | undefined) => {
    const found = environments?.find(({ environmentId }) => environmentId === id);
    return found ? nameOfEnvironment(found) : '—';
  };
  return (
    <Page title="Agents">
      {change.isError && <ErrorNote error={change.error} />}
      <ResourceTable
        name="Installations"
        query={installations}
        empty={
          <Empty title="No agents yet">
            <p>
              An agent appears here with its first captured session. On a machine that is logged in, this captures those
              to come, and asks whether to send earlier ones, too:
            </p>
            <CopyLine text="capture init" label="Copy the command" />
          </Empty>
        }
        heads={['Agent', 'Machine', 'Version', 'Changed', 'Status']}
      >
        {(installation) => (
          <InstallationRow
            key={installation.installationId}
            installation={installation}
            machine={nameOf(installation.environmentId)}
            isChanging={change.isPending}
            onChange={change.mutate}
          />
        )}
      </ResourceTable>
      {catalog.data && <Catalog agents={catalog.data} />}
    </Page>
  );
}

interface RowProps {
  installation: Installation;
  machine: string;
  isChanging: boolean;
  onChange: (change: Pick<Installation, 'installationId' | 'status'>) => void;
}

function InstallationRow({ installation, machine, isChanging, onChange }: RowProps) {
  const isAdmin = useIsAdmin();
  const { installationId, agentId, environmentId, version, updatedAt, status } = installation;
  const isActive = status === 'active';
  const action = isActive ? 'Disable' : 'Enable';
  return (
    <tr className={isActive ? '' : 'text-muted'}>
      <td>
        <SessionsOf of={{ agent: agentId, machine: environmentId }}>
          <AgentName agentId={agentId} />
        </SessionsOf>
      </td>
      <td>{environmentId ? <SessionsOf of={{ machine: environmentId }}>{machine}</SessionsOf> : machine}</td>
      <td className="text-muted">{version && showHidden(version)}</td>
      <td className="text-muted">
        <Ago time={updatedAt} />
      </td>
      <td>{status}</td>
      <td className="text-right">
        {isAdmin && (
          <Button
            size="small"
            disabled={isChanging}
            aria-label={`${action} ${agentId} on ${machine}`}
            onClick={() => onChange({ installationId, status: isActive ? 'disabled' : 'active' })}
          >
            {action}
          </Button>
        )}
      </td>
    </tr>
  );
}

function Catalog({ agents }: { agents: readonly AgentDefinition[] }) {
  return (
    <section aria-labelledby="catalog" className="mt-10">
      <h2 id="catalog" className="mb-2 text-14">
        Catalog
      </h2>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(220px,1fr))] gap-x-6 text-13">
        {agents.map(({ agentId, vendor, status }) => (
          <li key={agentId} className="flex h-8 items-center justify-between gap-2 border-line border-b">
            <AgentName agentId={agentId} />
            <span className="text-12 text-muted">{status === 'active' ? vendor : status}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
