import { join } from 'node:path';
import type { JsonObject } from '../../agents/agent.ts';
import { type AgentHooks, group } from '../agent-hooks.ts';

const TIMEOUT_MS = 5000;
const EVENTS = ['SessionStart', 'BeforeAgent', 'AfterTool', 'AfterAgent', 'SessionEnd'];
/** What a hook is listed and disabled by. */
const HOOK_NAME = 'session-capture';
const DEFAULT_RETENTION_DAYS = 30;

export const geminiCli: AgentHooks = {
  id: 'gemini-cli',
  programs: ['gemini'],
  // The variable replaces the home folder.
  folder: (variables, home) => join(variables.GEMINI_CLI_HOME || home, '.gemini'),
  files: inSettings(EVENTS),
  settings: {
    path: (folder) => join(folder, 'settings.json'),
    policies: {
      linux: ['/etc/gemini-cli/settings.json'],
      darwin: ['/Library/Application Support/GeminiCli/settings.json'],
      win32: ['C:\\ProgramData\\gemini-cli\\settings.json'],
    },
    findSilence: findHooksConfig,
    findRetention({ general }) {
      const { sessionRetention } = (general ?? {}) as JsonObject;
      const { enabled, maxAge } = (sessionRetention ?? {}) as JsonObject;
      if (enabled === false) return undefined;
      return { setting: 'general.sessionRetention', days: toDays(maxAge) ?? DEFAULT_RETENTION_DAYS };
    },
  },
};

/** Hooks in `settings.json`, as Gemini CLI and its relatives have them. */
export function inSettings(events: readonly string[]): AgentHooks['files'] {
  return ({ folder, command }) => [
    {
      kind: 'merged',
      path: join(folder, 'settings.json'),
      entries: group(events, { name: HOOK_NAME, type: 'command', command, timeout: TIMEOUT_MS }),
    },
  ];
}

/** `hooksConfig`, as Gemini CLI and its relatives have it. */
export function findHooksConfig({ hooksConfig, disableAllHooks }: JsonObject): string | undefined {
  const { enabled, disabled } = (hooksConfig ?? {}) as JsonObject;
  if (disableAllHooks === true) return '"disableAllHooks" is set';
  if (enabled === false) return '"hooksConfig.enabled" is false';
  return Array.isArray(disabled) && disabled.includes(HOOK_NAME)
    ? `"hooksConfig.disabled" names ${HOOK_NAME}`
    : undefined;
}

const DAYS: { readonly [unit: string]: number } = { h: 1 / 24, d: 1, w: 7, m: 30 };

/** `30d`, `2w`, `12h`, `1m` (a month). */
function toDays(age: unknown): number | undefined {
  const [, count, unit = ''] = /^(\d+)([hdwm])$/.exec(typeof age === 'string' ? age : '') ?? [];
  return count === undefined ? undefined : Number(count) * (DAYS[unit] ?? 1);
}
