/** The agent catalog, defined and versioned here. New installations are only possible for `active` agents. */
export const CATALOG = [
  { agentId: 'claude-code', displayName: 'Claude Code', vendor: 'Anthropic', status: 'active' },
  { agentId: 'codex', displayName: 'Codex', vendor: 'OpenAI', status: 'active' },
  { agentId: 'gemini-cli', displayName: 'Gemini CLI', vendor: 'Google', status: 'active' },
  { agentId: 'opencode', displayName: 'OpenCode', vendor: 'Anomaly', status: 'active' },
  { agentId: 'copilot-cli', displayName: 'Copilot CLI', vendor: 'GitHub', status: 'active' },
  { agentId: 'cursor', displayName: 'Cursor', vendor: 'Anysphere', status: 'active' },
  { agentId: 'qwen-code', displayName: 'Qwen Code', vendor: 'Alibaba', status: 'active' },
  { agentId: 'amp', displayName: 'Amp', vendor: 'Sourcegraph', status: 'active' },
  { agentId: 'goose', displayName: 'Goose', vendor: 'Block', status: 'active' },
  { agentId: 'aider', displayName: 'Aider', vendor: 'Aider', status: 'active' },
  { agentId: 'cline', displayName: 'Cline', vendor: 'Cline', status: 'active' },
  { agentId: 'roo-code', displayName: 'Roo Code', vendor: 'Roo Code', status: 'active' },
  { agentId: 'droid', displayName: 'Droid', vendor: 'Factory', status: 'active' },
  { agentId: 'kilo', displayName: 'Kilo Code', vendor: 'Kilo', status: 'active' },
  { agentId: 'pi', displayName: 'pi', vendor: 'Earendil', status: 'active' },
  { agentId: 'oh-my-pi', displayName: 'oh-my-pi', vendor: 'oh-my-pi', status: 'active' },
  { agentId: 'antigravity-cli', displayName: 'Antigravity CLI', vendor: 'Google', status: 'active' },
  { agentId: 'custom', displayName: 'Custom agent', vendor: 'Your own', status: 'active' },
] as const satisfies readonly { agentId: string; displayName: string; vendor: string; status: string }[];

/** When this version of the catalog was written. */
export const CATALOG_CREATED_AT = '2026-11-28T00:00:00.000Z';

/** The agents that continue a copy of a session on another machine: `capture resume`. */
export const CONTINUED_AGENTS: ReadonlySet<string> = new Set(['claude-code', 'codex']);
