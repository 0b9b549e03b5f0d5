import { Plus, X } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { type SessionFilter, useEnvironments, useInstallations } from '../queries.ts';
import { Button } from '../ui/button.tsx';
import { AgentName, agentName } from './agent-name.tsx';

interface Props {
  filter: SessionFilter;
  onChange: (change: { environment?: string | undefined; agent?: string | undefined }) => void;
}

/** What the list is narrowed down to, as chips to take away. */
export function SessionFilters({ filter, onChange }: Props) {
  const environments = useEnvironments().data ?? [];
  const agents = [...new Set((useInstallations().data ?? []).map(({ agentId }) => agentId))].sort();
  const environment = environments.find(({ environmentId }) => environmentId === filter.environment);
  return (
    <fieldset aria-label="Filters" className="mb-3 flex flex-wrap items-center gap-2">
      {filter.environment && (
        <Chip name="environment" onRemove={() => onChange({ environment: undefined })}>
          {environment?.displayName ?? environment?.hostname ?? filter.environment}
        </Chip>
      )}
      {filter.agent && (
        <Chip name="agent" onRemove={() => onChange({ agent: undefined })}>
          {agentName(filter.agent)}
        </Chip>
      )}
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <Button tone="quiet" size="small">
            <Plus size={14} aria-hidden /> Filter
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu max-h-[60vh] overflow-y-auto" align="start" sideOffset={4}>
            <DropdownMenu.Label className="px-2 py-1 text-12 text-muted">Agent</DropdownMenu.Label>
            {agents.map((agent) => (
              <DropdownMenu.Item key={agent} className="menu-item" onSelect={() => onChange({ agent })}>
                <AgentName agentId={agent} />
              </DropdownMenu.Item>
            ))}
            {agents.length === 0 && <p className="px-2 pb-1 text-12 text-muted">None yet</p>}
            <DropdownMenu.Separator className="menu-line" />
            <DropdownMenu.Label className="px-2 py-1 text-12 text-muted">Environment</DropdownMenu.Label>
            {environments.map(({ environmentId, displayName, hostname }) => (
              <DropdownMenu.Item
                key={environmentId}
                className="menu-item"
                onSelect={() => onChange({ environment: environmentId })}
              >
                {displayName ?? hostname}
              </DropdownMenu.Item>
            ))}
            {environments.length === 0 && <p className="px-2 pb-1 text-12 text-muted">None yet</p>}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </fieldset>
  );
}

function Chip({ name, children, onRemove }: { name: string; children: string; onRemove: () => void }) {
  return (
    <span className="inline-flex h-7 items-center gap-1 rounded-md border border-line bg-accent-wash pl-2 text-12">
      <span className="text-muted">{name}</span>
      <span className="font-medium">{children}</span>
      <button
        type="button"
        aria-label={`Remove the filter ${name}`}
        className="inline-flex size-7 cursor-pointer items-center justify-center text-muted hover:text-text"
        onClick={onRemove}
      >
        <X size={12} />
      </button>
    </span>
  );
}
