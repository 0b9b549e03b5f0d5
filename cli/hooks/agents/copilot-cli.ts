import { join } from 'node:path';
import type { AgentHooks } from '../agent-hooks.ts';

const TIMEOUT_SECONDS = 5;
const EVENTS = ['sessionStart', 'userPromptSubmitted', 'postToolUse', 'agentStop', 'sessionEnd'];

/** Copilot CLI reads every file in its folder of hooks, so ours is one of its own. */
export const copilotCli: AgentHooks = {
  id: 'copilot-cli',
  programs: ['copilot'],
  folder: (variables, home) => variables.COPILOT_HOME || join(home, '.copilot'),
  files({ folder, command, platform }) {
    const shell = platform === 'win32' ? 'powershell' : 'bash';
    // PowerShell takes a quoted path for a text unless it is told to run it.
    const line = platform === 'win32' ? `& ${command}` : command;
    const handler = { type: 'command', [shell]: line, timeoutSec: TIMEOUT_SECONDS };
    const hooks = Object.fromEntries(EVENTS.map((event) => [event, [handler]]));
    const content = `${JSON.stringify({ version: 1, hooks }, undefined, 2)}\n`;
    const marker = JSON.stringify(line);
    return [{ kind: 'own', path: join(folder, 'hooks', 'session-capture.json'), content, marker, mode: 0o644 }];
  },
  settings: {
    path: (folder) => join(folder, 'settings.json'),
    findSilence: ({ disableAllHooks }) => (disableAllHooks === true ? '"disableAllHooks" is set' : undefined),
  },
};
