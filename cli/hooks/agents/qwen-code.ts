import { join } from 'node:path';
import type { AgentHooks } from '../agent-hooks.ts';
import { findHooksConfig, inSettings } from './gemini-cli.ts';

/** The prompt's event comes again after each tool's result; the session's end does not come with `-p`. */
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'SessionEnd'];

export const qwenCode: AgentHooks = {
  id: 'qwen-code',
  programs: ['qwen'],
  folder: (variables, home) => variables.QWEN_HOME || join(home, '.qwen'),
  files: inSettings(EVENTS),
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
