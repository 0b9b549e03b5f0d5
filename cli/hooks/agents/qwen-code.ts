import { join } from 'node:path';
import { type AgentHooks, group } from '../agent-hooks.ts';
import { findHooksConfig, HOOK_NAME } from './gemini-cli.ts';

const TIMEOUT_MS = 5000;
/** The prompt's event comes again after each tool's result; the session's end does not come with `-p`. */
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'SessionEnd'];

export const qwenCode: AgentHooks = {
  id: 'qwen-code',
  programs: ['qwen'],
  folder: (variables, home) => variables.QWEN_HOME || join(home, '.qwen'),
  files: ({ folder, command }) => [
    {
      kind: 'merged',
      path: join(folder, 'settings.json'),
      entries: group(EVENTS, { name: HOOK_NAME, type: 'command', command, timeout: TIMEOUT_MS }),
    },
  ],
  settings: {
    path: (folder) => join(folder, 'settings.json'),
    policies: {
      linux: ['/etc/qwen-code/settings.json'],
      darwin: ['/Library/Application Support/QwenCode/settings.json'],
      win32: ['C:\\ProgramData\\qwen-code\\settings.json'],
    },
    findSilence: findHooksConfig,
  },
};
