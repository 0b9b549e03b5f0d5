import { join } from 'node:path';
import { type AgentHooks, group } from '../agent-hooks.ts';

/** The session's end has 1.5 s for all hooks together unless a hook asks for more, so each says its own limit. */
const TIMEOUT_SECONDS = 5;
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SubagentStop', 'Stop', 'SessionEnd'];
const DEFAULT_RETENTION_DAYS = 30;

export const claudeCode: AgentHooks = {
  id: 'claude-code',
  programs: ['claude'],
  folder: (variables, home) => variables.CLAUDE_CONFIG_DIR || join(home, '.claude'),
  files: ({ folder, command }) => [
    {
      kind: 'merged',
      path: join(folder, 'settings.json'),
      entries: group(EVENTS, { type: 'command', command, timeout: TIMEOUT_SECONDS }),
    },
  ],
  settings: {
    path: (folder) => join(folder, 'settings.json'),
    policies: {
      linux: ['/etc/claude-code/managed-settings.json'],
      darwin: ['/Library/Application Support/ClaudeCode/managed-settings.json'],
      win32: ['C:\\ProgramData\\ClaudeCode\\managed-settings.json'],
    },
    findSilence({ disableAllHooks, allowManagedHooksOnly }, isPolicy) {
      if (disableAllHooks === true) return '"disableAllHooks" is set';
      return isPolicy && allowManagedHooksOnly === true ? '"allowManagedHooksOnly" is set' : undefined;
    },
    findRetention: ({ cleanupPeriodDays }) => ({
      setting: 'cleanupPeriodDays',
      days: typeof cleanupPeriodDays === 'number' ? cleanupPeriodDays : DEFAULT_RETENTION_DAYS,
    }),
  },
};
