import type { Command } from '../command.ts';
import { doctorCommand } from './doctor.ts';
import { importCommand } from './import.ts';
import { initCommand } from './init.ts';
import { loginCommand } from './login.ts';
import { logoutCommand } from './logout.ts';
import { logsCommand } from './logs.ts';
import { openCommand } from './open.ts';
import { pauseCommand } from './pause.ts';
import { redactCommand } from './redact.ts';
import { restartCommand } from './restart.ts';
import { resumeCommand } from './resume.ts';
import { runCommand } from './run.ts';
import { sessionsCommand } from './sessions.ts';
import { skipCommand } from './skip.ts';
import { spoolCommand } from './spool.ts';
import { statusCommand } from './status.ts';
import { stopCommand } from './stop.ts';
import { uninstallCommand } from './uninstall.ts';
import { verifyCommand } from './verify.ts';
import { versionCommand } from './version.ts';
import { whoamiCommand } from './whoami.ts';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  loginCommand,
  initCommand,
  importCommand,
  runCommand,
  stopCommand,
  restartCommand,
  statusCommand,
  whoamiCommand,
  doctorCommand,
  sessionsCommand,
  openCommand,
  pauseCommand,
  resumeCommand,
  logsCommand,
  spoolCommand,
  skipCommand,
  verifyCommand,
  redactCommand,
  logoutCommand,
  uninstallCommand,
  versionCommand,
];
