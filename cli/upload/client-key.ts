import { hash } from 'node:crypto';

/** What tells an agent's session from all others of an organization. */
export interface SessionName {
  agent: string;
  /** The agent's own id. */
  session: string;
  /** Where ids of the agent are not unique in the world, the machine that this one is of. */
  machine?: string | undefined;
}

/**
 * The key under which the service knows an agent's session, wherever and however often it is captured. `generation` counts
 * those that were completed before: what comes after its completion is another session there. Nothing of this machine's
 * state is in it, so that losing the state doubles nothing.
 */
export function toClientKey({ agent, session, machine = '' }: SessionName, generation = 0): string {
  return hash('sha256', ['session', agent, session, machine, generation].join('\0'), 'base64url');
}
