import { hash } from 'node:crypto';
import type { Context } from '../context.ts';

/** What tells an agent's session from all others of an organization. */
interface SessionName {
  agent: string;
  /** The agent's own id. */
  session: string;
  /** Where ids of the agent are not unique in the world, the machine that this one is of. */
  machine?: string | undefined;
}

/** Makes the keys of this machine's sessions: with the machine in them for agents whose ids are not unique in the world. */
export function createKeyOf({ hostname, home, agents }: Pick<Context, 'hostname' | 'home' | 'agents'>) {
  const machine = hash('sha256', `${hostname}\0${home}`).slice(0, 32);
  const localAgents = new Set(agents.filter(({ hasLocalIds }) => hasLocalIds).map(({ id }) => id as string));
  return (agent: string, session: string, generation?: number): string =>
    toClientKey({ agent, session, machine: localAgents.has(agent) ? machine : undefined }, generation);
}

/**
 * The key under which the service knows an agent's session, wherever and however often it is captured. `generation` counts
 * those that were completed before: what comes after its completion is another session there. Nothing of this machine's
 * state is in it, so that losing the state doubles nothing.
 */
function toClientKey({ agent, session, machine = '' }: SessionName, generation = 0): string {
  return hash('sha256', ['session', agent, session, machine, generation].join('\0'), 'base64url');
}
