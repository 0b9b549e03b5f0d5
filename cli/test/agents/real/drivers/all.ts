import type { Driver } from '../driver.ts';
import { claudeCode } from './claude-code.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { copilotCli } from './copilot-cli.ts';
import { geminiCli } from './gemini-cli.ts';
import { ohMyPi } from './oh-my-pi.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwenCode } from './qwen-code.ts';

export const DRIVERS: readonly Driver[] = [
  claudeCode,
  codex,
  geminiCli,
  opencode,
  copilotCli,
  qwenCode,
  cline,
  pi,
  ohMyPi,
];
