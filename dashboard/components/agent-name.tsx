import { CATALOG } from '../../contract/catalog.ts';

const HUED = new Set(['claude-code', 'codex', 'gemini-cli', 'copilot-cli', 'opencode', 'cursor']);
const NAMES = new Map<string, string>(CATALOG.map(({ agentId, displayName }) => [agentId, displayName]));

export const agentColor = (agentId: string): string => `var(--agent-${HUED.has(agentId) ? agentId : 'other'})`;
export const agentName = (agentId: string): string => NAMES.get(agentId) ?? agentId;

/** A small mark of the agent's hue. */
export function AgentMark({ agentId }: { agentId: string }) {
  return (
    <span className="inline-flex size-4 flex-none items-center justify-center" title={agentName(agentId)}>
      <span className="size-1.5 rounded-full" style={{ background: agentColor(agentId) }} />
    </span>
  );
}

/** The agent's name behind a small mark of its hue. */
export function AgentName({ agentId }: { agentId: string }) {
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <span className="size-1.5 flex-none rounded-full" style={{ background: agentColor(agentId) }} />
      {agentName(agentId)}
    </span>
  );
}
