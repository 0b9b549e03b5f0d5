import { join } from 'node:path';
import type { AgentHooks } from '../agent-hooks.ts';

const EVENTS = ['TaskStart', 'TaskResume', 'UserPromptSubmit', 'PostToolUse', 'TaskComplete', 'TaskCancel'];

/** A hook is an executable named like its event: of one name there is one, and a person's own is left alone. */
export const cline: AgentHooks = {
  id: 'cline',
  programs: ['cline'],
  folder: (variables, home) => variables.CLINE_DIR || join(home, '.cline'),
  files({ folder, command, platform }) {
    if (platform === 'win32') return [];
    const content = `#!/bin/sh\n# Session Capture; \`capture uninstall\` removes this file.\n${command}\n`;
    const file = { kind: 'own', content, marker: command, mode: 0o755 } as const;
    return EVENTS.map((event) => ({ ...file, path: join(folder, 'hooks', event) }));
  },
};
