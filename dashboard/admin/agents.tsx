import type { AgentDefinition, Installation } from '../../contract/agent.ts';
import { useIsAdmin } from '../app/app.ts';
import { keys, useCatalog, useChange, useInstallations } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { CopyLine } from '../kit/copy.tsx';
import { Empty } from '../kit/notes.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { AgentName, agentName } from '../shared/agent-name.tsx';
import { useMachineNames } from '../shared/group-names.ts';
import { SessionsOf } from '../shared/sessions-of.tsx';
import { ResourcePage } from './resource-page.tsx';

export function AgentsPage() {
  const catalog = useCatalog();
  const machines = useMachineNames();
  const isAdmin = useIsAdmin();
  const change = useChange(
    (api, { installationId, status }: Pick<Installation, 'installationId' | 'status'>) =>
      api.updateInstallation({ installationId, body: { status } }),
    [keys.installations],
  );
  const machineOf = ({ environmentId }: Installation) => machines.get(environmentId ?? '') ?? 'unknown machine';
  return (
    <ResourcePage
      title="Agents"
      context="Sessions of a disabled agent stay on its machine and are not sent."
      name="Installations"
      query={useInstallations()}
      failed={change.error}
      empty={
        <Empty title="No agents yet">
          <p>
            An agent appears here with its first captured session. On a machine that is signed in, this command captures
            new sessions and asks whether to send earlier ones too:
          </p>
          <CopyLine text="capture init" label="Copy the command" />
        </Empty>
      }
      wordsOf={(each) => `${agentName(each.agentId)} ${machineOf(each)} ${each.status}`}
      keyOf={({ installationId }) => installationId}
      isMuted={({ status }) => status !== 'active'}
      columns={[
        {
          head: 'Agent',
          cell: ({ agentId, environmentId, status }) => (
            <>
              <SessionsOf of={{ agent: agentId, machine: environmentId }}>
                <AgentName agentId={agentId} />
              </SessionsOf>
              {status !== 'active' && <span className="text-muted"> {status}</span>}
            </>
          ),
        },
        {
          head: 'Machine',
          cell: (each) =>
            each.environmentId ? (
              <SessionsOf of={{ machine: each.environmentId }}>{machineOf(each)}</SessionsOf>
            ) : (
              machineOf(each)
            ),
        },
        {
          head: 'Version',
          label: 'version',
          isMuted: true,
          cell: ({ version }) =>
            version ? showHidden(version) : <span title="The machine has not reported the version">unknown</span>,
        },
        { head: 'Changed', label: 'changed', isMuted: true, cell: ({ updatedAt }) => <Ago time={updatedAt} /> },
        {
          head: 'Actions',
          isActions: true,
          cell(each) {
            const { installationId, agentId, status } = each;
            const action = status === 'active' ? 'Disable' : 'Enable';
            return (
              isAdmin && (
                <Button
                  size="small"
                  disabled={change.isPending}
                  aria-label={`${action} ${agentId} on ${machineOf(each)}`}
                  onClick={() => change.mutate({ installationId, status: status === 'active' ? 'disabled' : 'active' })}
                >
                  {action}
                </Button>
              )
            );
          },
        },
      ]}
    >
      {catalog.data && <Catalog agents={catalog.data} />}
    </ResourcePage>
  );
}

function Catalog({ agents }: { agents: readonly AgentDefinition[] }) {
  return (
    <section aria-labelledby="catalog" className="mt-10">
      <h2 id="catalog" className="mb-2 text-14">
        Catalog
      </h2>
      <p className="mb-2 text-13 text-muted">Agents that this service knows, in use or not.</p>
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
