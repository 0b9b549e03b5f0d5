import { Command, CommanderError } from 'commander';
import { addCompletion, runCompletion } from './commands/completion.ts';
import { addDoctor, runDoctor } from './commands/doctor.ts';
import { addHelp, runHelp } from './commands/help.ts';
import { addImport, runImport } from './commands/import.ts';
import { addInit, runInit } from './commands/init.ts';
import { addLogin, runLogin } from './commands/login.ts';
import { addLogout, runLogout } from './commands/logout.ts';
import { addLogs, runLogs } from './commands/logs.ts';
import { addOpen, runOpen } from './commands/open.ts';
import { addPause, runPause } from './commands/pause.ts';
import { addRedact, runRedact } from './commands/redact.ts';
import { addResume, runResume } from './commands/resume.ts';
import { addRun, runDaemonCommand } from './commands/run.ts';
import { addSessions, runSessions } from './commands/sessions.ts';
import { addSkip, runSkip } from './commands/skip.ts';
import { addSpool, runSpool } from './commands/spool.ts';
import { addStatus, runStatus } from './commands/status.ts';
import { addUninstall, runUninstall } from './commands/uninstall.ts';
import { addVerify, runVerify } from './commands/verify.ts';
import type { Context } from './context.ts';
import { EXIT, type ExitCode } from './failure.ts';
import { createOutput, type Output, reportError } from './output.ts';
import { VERSION } from './version.ts';

/** Runs one invocation; the exit code says how it went. */
export async function runProgram(context: Context, args: readonly string[]): Promise<ExitCode> {
  const program = createProgram(context);
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportError(error, context, program.opts().json === true);
  }
}

function createProgram(context: Context): Command {
  const program = new Command('capture')
    .description('Records what coding agents did on this machine, and sends it to your Session Capture service.')
    .version(VERSION)
    .option('--json', 'answer in JSON')
    .option('--quiet', 'say only what went wrong')
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 80,
      getErrHelpWidth: () => context.stderr.columns ?? 80,
    });

  const run =
    <Options>(command: (context: Context, options: Options, output: Output) => Promise<void>) =>
    (options: Options) =>
      command(context, options, createOutput(context, program.opts()));

  addLogin(program, run(runLogin));
  addInit(program, run(runInit));
  addImport(program, run(runImport));
  addRun(program, run(runDaemonCommand));
  addStatus(program, run(runStatus));
  addDoctor(program, run(runDoctor));
  addSessions(program, run(runSessions));
  addOpen(program, run(runOpen));
  addPause(program, run(runPause));
  addResume(program, run(runResume));
  addLogs(program, run(runLogs));
  addSpool(program, run(runSpool));
  addSkip(program, run(runSkip));
  addVerify(program, run(runVerify));
  addRedact(program, run(runRedact));
  addLogout(program, run(runLogout));
  addUninstall(program, run(runUninstall));
  addCompletion(program, run(runCompletion));
  addHelp(program, run(runHelp));
  return program;
}
