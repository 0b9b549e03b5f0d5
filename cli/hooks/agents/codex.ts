import { join } from 'node:path';
import { type AgentHooks, group } from '../agent-hooks.ts';

/** Codex allows 3 s at a session's end, whatever is asked for. */
const TIMEOUT_SECONDS = 3;
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SubagentStop', 'Stop', 'SessionEnd'];

/**
 * `hooks.json` and not `config.toml`: an error in the latter keeps Codex from starting. Its root takes no other member
 * than `description` and `hooks`. Codex runs only hooks it was told to trust, see `setup/codex-trust.ts`; trust goes by
 * position, so ours stand last in their lists.
 */
export const codex: AgentHooks = {
  id: 'codex',
  programs: ['codex'],
  folder: (variables, home) => variables.CODEX_HOME || join(home, '.codex'),
  files: ({ folder, command }) => [
    {
      kind: 'merged',
      path: join(folder, 'hooks.json'),
      entries: group(EVENTS, { type: 'command', command, timeout: TIMEOUT_SECONDS }),
    },
  ],
};
