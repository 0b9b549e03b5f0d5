import type { Agent } from '../agents/agent.ts';
import { describeAgents } from './agents.ts';
import { EXIT_CODES } from './exit-codes.ts';
import type { Block } from './page.ts';
import { files } from './topics/files.ts';
import { privacy, redaction } from './topics/privacy.ts';
import { troubleshooting } from './topics/troubleshooting.ts';
import { environment } from './topics/variables.ts';

/** Something to know that is no command. */
export interface Topic {
  name: string;
  summary: string;
  blocks(agents: readonly Agent[]): Block[];
}

const agents: Topic = {
  name: 'agents',
  summary: 'which agents are captured, and where they keep their sessions',
  blocks: (known) => [
    'An id is what --agent takes. Folders are those of Linux; `capture status` says what was found in them.',
    { terms: describeAgents(known) },
  ],
};

const exitCodes: Topic = {
  name: 'exit-codes',
  summary: 'what a script can tell from the exit code',
  blocks: () => [
    { terms: EXIT_CODES },
    'With --json an error is an object on standard error as well: { "error", "hint", "exitCode" }.',
  ],
};

/** In the order of the help; each is a section of the manual page too. */
export const TOPICS: readonly Topic[] = [agents, privacy, redaction, environment, files, exitCodes, troubleshooting];
