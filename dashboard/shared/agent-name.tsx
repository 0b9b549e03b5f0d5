import { CATALOG } from '../../contract/catalog.ts';

/** In degrees. With this step, each hue is far from all hues before it, for any number of agents. */
const GOLDEN_ANGLE = 137.5;

const NAMES = new Map<string, string>(CATALOG.map(({ agentId, displayName }) => [agentId, displayName]));

const HUES = new Map<string, number>(CATALOG.map(({ agentId }, index) => [agentId, (45 + index * GOLDEN_ANGLE) % 360]));

/** The colour of an agent, in its mark and in plots. An agent that is not in the catalog is grey. */
export function agentColor(agentId: string): string {
  const hue = HUES.get(agentId);
  const color = hue === undefined ? '0.01 262' : `0.13 ${hue}`;
  return `light-dark(oklch(60% ${color}), oklch(74% ${color}))`;
}
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
