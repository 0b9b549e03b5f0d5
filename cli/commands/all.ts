import type { Command } from '../command.ts';
import { loginCommand, logoutCommand } from './account.ts';
import { restartCommand, runCommand, stopCommand } from './daemon.ts';
import { deleteCommand } from './delete.ts';
import { execCommand } from './exec.ts';
import { importCommand } from './import.ts';
import { initCommand } from './init.ts';
import { openCommand } from './open.ts';
import { pauseCommand, resumeCommand } from './pause.ts';
import { receiptCommand } from './receipt.ts';
import { recoverCommand } from './recover.ts';
import { redactCommand } from './redact.ts';
import { sessionsCommand } from './sessions.ts';
import { skipCommand } from './skip.ts';
import { spoolCommand } from './spool.ts';
import { statusCommand } from './status.ts';
import { uninstallCommand } from './uninstall.ts';
import { verifyCommand } from './verify.ts';
import { visibilityCommand } from './visibility.ts';

/** The help lists the commands in this order. */
export const COMMANDS: readonly Command[] = [
  loginCommand,
  initCommand,
  importCommand,
  runCommand,
  stopCommand,
  restartCommand,
  execCommand,
  statusCommand,
  sessionsCommand,
  openCommand,
  spoolCommand,
  pauseCommand,
  resumeCommand,
  skipCommand,
  deleteCommand,
  visibilityCommand,
  verifyCommand,
  receiptCommand,
  recoverCommand,
  redactCommand,
  logoutCommand,
  uninstallCommand,
];
