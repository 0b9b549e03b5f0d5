import type { AgentDefinition, Installation } from '../../contract/agent.ts';
import { useIsAdmin } from '../app.ts';
import { AgentName } from '../components/agent-name.tsx';
import { nameOfEnvironment } from '../components/environment-name.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { Page } from '../components/page.tsx';
import { SessionsOf } from '../components/sessions-of.tsx';
import { keys, useCatalog, useChange, useEnvironments, useInstallations } from '../queries.ts';
import { showHidden } from '../text/controls.ts';
import { Button } from '../ui/button.tsx';
import { CopyLine } from '../ui/copy.tsx';
import { Empty, Waiting } from '../ui/notes.tsx';
import { Scroll } from '../ui/scroll.tsx';
import { Ago } from '../ui/time.tsx';

export function AgentsPage() {
  const installations = useInstallations();
  const catalog = useCatalog();
  const rows = installations.data ?? [];
  return (
    <Page title="Agents" context="Agents found on the machines, and those that can be captured.">
      {installations.isPending && <Waiting label="Loading agents" />}
      {installations.isError && <ErrorNote error={installations.error} onRetry={() => void installations.refetch()} />}
      {installations.isSuccess && rows.length === 0 && (
        <Empty title="No agents yet">
          <p>An agent appears here with its first captured session on a machine:</p>
          <CopyLine text="capture import" label="Copy the command" />
        </Empty>
      )}
      {rows.length > 0 && <InstallationTable installations={rows} />}
      {catalog.data && <Catalog agents={catalog.data} />}
    </Page>
  );
}

function InstallationTable({ installations }: { installations: readonly Installation[] }) {
  const isAdmin = useIsAdmin();
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
    <>
      {change.isError && <ErrorNote error={change.error} />}
      <Scroll className="overflow-x-auto" aria-label="Installations">
        <table className="table table-lines">
          <thead>
            <tr>
              <th>Agent</th>
              <th>Environment</th>
              <th>Version</th>
              <th>Changed</th>
              <th>Status</th>
              <th>
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {installations.map(({ installationId, agentId, environmentId, version, updatedAt, status }) => (
              <tr key={installationId} className={status === 'disabled' ? 'text-muted' : ''}>
                <td>
                  <SessionsOf of={{ agent: agentId, machine: environmentId }}>
                    <AgentName agentId={agentId} />
                  </SessionsOf>
                </td>
                <td>
                  {environmentId ? (
                    <SessionsOf of={{ machine: environmentId }}>{nameOf(environmentId)}</SessionsOf>
                  ) : (
                    nameOf(environmentId)
                  )}
                </td>
                <td className="text-muted">{version && showHidden(version)}</td>
                <td className="text-muted">
                  <Ago time={updatedAt} />
                </td>
                <td>{status}</td>
                <td className="text-right">
                  {isAdmin && (
                    <Button
                      size="small"
                      disabled={change.isPending}
                      aria-label={`${status === 'active' ? 'Disable' : 'Enable'} ${agentId} on ${nameOf(environmentId)}`}
                      onClick={() =>
                        change.mutate({ installationId, status: status === 'active' ? 'disabled' : 'active' })
                      }
                    >
                      {status === 'active' ? 'Disable' : 'Enable'}
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
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
