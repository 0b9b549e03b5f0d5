import type { Agent } from './agent.ts';
import { claudeCode } from './claude-code.ts';

/** Every agent whose transcripts can be read. */
export const AGENTS: readonly Agent[] = [claudeCode];
