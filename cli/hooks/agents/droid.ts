import { join } from 'node:path';
import { type AgentHooks, group } from '../agent-hooks.ts';

const TIMEOUT_SECONDS = 5;
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SubagentStop', 'Stop', 'SessionEnd'];

export const droid: AgentHooks = {
  id: 'droid',
  programs: ['droid'],
  // The variable replaces the home folder.
  folder: (variables, home) => join(variables.FACTORY_HOME_OVERRIDE || home, '.factory'),
  files: ({ folder, command }) => [
    {
      kind: 'merged',
      path: join(folder, 'settings.json'),
      entries: group(EVENTS, { type: 'command', command, timeout: TIMEOUT_SECONDS }),
    },
  ],
};
