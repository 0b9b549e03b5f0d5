import { join } from 'node:path';
import type { AgentHooks } from '../agent-hooks.ts';

const TIMEOUT_SECONDS = 5;
/**
 * What Cursor's transcripts lack, such as results and times, only its hooks tell, so more of them are asked for than an
 * agent's doorbell needs. None is one that asks for permission: those wait for an answer.
 */
const EVENTS = [
  'sessionStart',
  'beforeSubmitPrompt',
  'postToolUse',
  'postToolUseFailure',
  'afterAgentResponse',
  'afterAgentThought',
  'preCompact',
  'subagentStop',
  'stop',
  'sessionEnd',
];

export const cursor: AgentHooks = {
  id: 'cursor',
  programs: ['cursor-agent', 'cursor'],
  folder: (_variables, home) => join(home, '.cursor'),
  files: ({ folder, plainCommand: command }) => [
    {
      kind: 'merged',
      path: join(folder, 'hooks.json'),
      root: { version: 1 },
      entries: EVENTS.map((event) => ({ event, value: { command, timeout: TIMEOUT_SECONDS } })),
    },
  ],
};
