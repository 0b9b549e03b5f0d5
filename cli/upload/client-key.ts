import { hash } from 'node:crypto';
import type { Context } from '../context.ts';

/**
 * Makes the keys under which the service knows the agents' sessions, wherever and however often a session is captured. If an
 * agent's ids are not unique in the world, the key includes the machine. `generation` counts the service's sessions that were
 * completed before: records after a completion go to a new session. A key includes no state of this machine, so losing the
 * state duplicates nothing.
 */
export function createKeyOf({ hostname, home, agents }: Pick<Context, 'hostname' | 'home' | 'agents'>) {
  const here = hash('sha256', `${hostname}\0${home}`).slice(0, 32);
  const localAgents = new Set(agents.filter(({ hasLocalIds }) => hasLocalIds).map(({ id }) => id as string));
  return (agent: string, session: string, generation = 0): string => {
    const machine = localAgents.has(agent) ? here : '';
    return hash('sha256', ['session', agent, session, machine, generation].join('\0'), 'base64url');
  };
}
