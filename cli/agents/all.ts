import type { Agent } from './agent.ts';
import { aider } from './aider/aider.ts';
import { antigravityCli } from './antigravity-cli/antigravity-cli.ts';
import { claudeCode } from './claude-code/claude-code.ts';
import { cline } from './cline/cline.ts';
import { codex } from './codex/codex.ts';
import { copilotCli } from './copilot-cli/copilot-cli.ts';
import { cursor } from './cursor/cursor.ts';
import { custom } from './custom/custom.ts';
import { droid } from './droid/droid.ts';
import { geminiCli } from './gemini-cli/gemini-cli.ts';
import { goose } from './goose/goose.ts';
import { kilo } from './kilo/kilo.ts';
import { ohMyPi } from './oh-my-pi/oh-my-pi.ts';
import { opencode } from './opencode/opencode.ts';
import { pi } from './pi/pi.ts';
import { qwenCode } from './qwen-code/qwen-code.ts';
import { rooCode } from './roo-code/roo-code.ts';

/** Every agent whose transcripts can be read. */
export const AGENTS: readonly Agent[] = [
  claudeCode,
  codex,
  copilotCli,
  qwenCode,
  pi,
  ohMyPi,
  droid,
  geminiCli,
  antigravityCli,
  cursor,
  opencode,
  kilo,
  goose,
  cline,
  rooCode,
  aider,
  custom,
];
