import type { Variables } from '../agents/agent.ts';

/** Where agents keep their sessions, if not where they usually do: a service is not started from a person's shell. */
const PLACES = [
  'CAPTURE_HOME',
  'CAPTURE_URL',
  'CLAUDE_CONFIG_DIR',
  'CLINE_DATA_DIR',
  'CLINE_DIR',
  'CLINE_SESSION_DATA_DIR',
  'CODEX_HOME',
  'COPILOT_HOME',
  'FACTORY_HOME_OVERRIDE',
  'GEMINI_CLI_HOME',
  'OPENCODE_DB',
  'PI_CODING_AGENT_DIR',
  'PI_CODING_AGENT_SESSION_DIR',
  'QWEN_HOME',
  'QWEN_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
];

/** Those of a person's variables that the daemon needs; never a secret. */
export function variablesForDaemon(variables: Variables): { [name: string]: string } {
  const known = PLACES.map((name) => [name, variables[name] ?? ''] as const);
  return Object.fromEntries(known.filter(([, value]) => value !== '' && !/[\r\n]/.test(value)));
}
