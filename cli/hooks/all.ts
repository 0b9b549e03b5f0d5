import type { AgentHooks } from './agent-hooks.ts';
import { claudeCode } from './agents/claude-code.ts';
import { cline } from './agents/cline.ts';
import { codex } from './agents/codex.ts';
import { copilotCli } from './agents/copilot-cli.ts';
import { cursor } from './agents/cursor.ts';
import { droid } from './agents/droid.ts';
import { geminiCli } from './agents/gemini-cli.ts';
import { qwenCode } from './agents/qwen-code.ts';
import { openCode, pi } from './agents/silent.ts';

/** Every agent that `capture init` looks for. */
export const AGENT_HOOKS: readonly AgentHooks[] = [
  claudeCode,
  codex,
  geminiCli,
  qwenCode,
  copilotCli,
  cursor,
  cline,
  droid,
  openCode,
  pi,
];
