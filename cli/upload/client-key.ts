import { hash } from 'node:crypto';
import type { Context } from '../context.ts';

/**
 * Makes the keys under which the service knows the agents' sessions, wherever and however often one is captured: with the
 * machine in them for agents whose ids are not unique in the world. `generation` counts the sessions there that were
 * completed before: what comes after its completion is another one. Nothing of this machine's state is in a key, so that
 * losing the state doubles nothing.
 */
export function createKeyOf({ hostname, home, agents }: Pick<Context, 'hostname' | 'home' | 'agents'>) {
  const here = hash('sha256', `${hostname}\0${home}`).slice(0, 32);
  const localAgents = new Set(agents.filter(({ hasLocalIds }) => hasLocalIds).map(({ id }) => id as string));
  return (agent: string, session: string, generation = 0): string => {
    const machine = localAgents.has(agent) ? here : '';
    return hash('sha256', ['session', agent, session, machine, generation].join('\0'), 'base64url');
  };
}
