import { join } from 'node:path';
import type { AgentHooks } from '../agent-hooks.ts';

/**
 * A plugin would make OpenCode install packages whenever it starts, and wait for that without a network; its database
 * is looked at every two seconds anyway. See docs/decisions/0010-hooks-are-a-doorbell.md.
 */
export const openCode: AgentHooks = {
  id: 'opencode',
  programs: ['opencode'],
  folder: (variables, home) => join(variables.XDG_CONFIG_HOME || join(home, '.config'), 'opencode'),
  files: () => [],
};

/** Its extensions run in its own process, for every session: more than a doorbell is worth. */
export const pi: AgentHooks = {
  id: 'pi',
  programs: ['pi'],
  folder: (variables, home) => variables.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent'),
  files: () => [],
};
