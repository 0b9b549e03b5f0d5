import type { Agent } from './agent.ts';
import { aider } from './aider.ts';
import { claudeCode } from './claude-code.ts';
import { cline } from './cline.ts';
import { kiloExtension, rooCode } from './cline-extension.ts';
import { codex } from './codex.ts';
import { copilotCli } from './copilot-cli.ts';
import { cursor } from './cursor.ts';
import { custom } from './custom.ts';
import { droid } from './droid.ts';
import { geminiCli } from './gemini-cli.ts';
import { goose } from './goose.ts';
import { kilo } from './kilo.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwenCode } from './qwen-code.ts';

/** Every agent whose transcripts can be read. */
export const AGENTS: readonly Agent[] = [
  claudeCode,
  codex,
  copilotCli,
  qwenCode,
  pi,
  droid,
  geminiCli,
  cursor,
  opencode,
  kilo,
  goose,
  cline,
  rooCode,
  kiloExtension,
  aider,
  custom,
];
