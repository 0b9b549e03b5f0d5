import { hash } from 'node:crypto';
import type { Context } from '../context.ts';

export interface Keyed {
  agent: string;
  agentSession: string;
  ownFrom?: number | undefined;
}

/**
 * Makes the keys under which the service knows the agents' sessions, wherever and however often a session is captured. If an
 * agent's ids are not unique in the world, the key includes the machine. `generation` counts the service's sessions that were
 * completed before: records after a completion go to a new session. A key includes no state of this machine, so losing the
 * state duplicates nothing.
 *
 * From the generation `ownFrom` on, the session of the service belongs to somebody else, who has the same transcript. The keys then
 * include the machine, too, so that two people never write to one session.
 */
export function createKeyOf({ hostname, home, agents }: Pick<Context, 'hostname' | 'home' | 'agents'>) {
  const here = hash('sha256', `${hostname}\0${home}`).slice(0, 32);
  const localAgents = new Set(agents.filter(({ hasLocalIds }) => hasLocalIds).map(({ id }) => id as string));
  return ({ agent, agentSession: session, ownFrom }: Keyed, generation = 0): string => {
    const isOwn = ownFrom !== undefined && generation >= ownFrom;
    const machine = isOwn ? `own ${here}` : localAgents.has(agent) ? here : '';
    return hash('sha256', ['session', agent, session, machine, generation].join('\0'), 'base64url');
  };
}
