import type { Agent, Variables } from '../agents/agent.ts';
import type { Term } from './page.ts';

/** Each agent with where it keeps its sessions, and the variables that say otherwise. */
export function describeAgents(agents: readonly Agent[]): Term[] {
  return agents.map((agent) => {
    const { roots, variables } = placesOf(agent);
    const moved = variables.length > 0 ? ` Moved by ${variables.join(', ')}.` : '';
    const where = roots.length > 0 ? shorten(roots) : 'only what is named to `capture import`';
    return [agent.id, `${agent.displayName}: ${where}.${moved}`];
  });
}

/** An extension has a folder for every editor and system. */
function shorten(roots: readonly string[]): string {
  const more = roots.length > 3 ? ` and ${roots.length - 2} others` : '';
  return roots.slice(0, more === '' ? 3 : 2).join(', ') + more;
}

/** Asks the agent's definition, and notes which variables it looks at while it answers. */
function placesOf(agent: Agent): { roots: string[]; variables: string[] } {
  const asked = new Set<string>();
  const variables: Variables = new Proxy({}, { get: (_, name) => void asked.add(String(name)) });
  const roots = agent.roots(variables, '~').map((path) => path.replaceAll('\\', '/'));
  return { roots, variables: [...asked] };
}
