import completions from '@bomb.sh/tab';
import addCompletion from '@bomb.sh/tab/commander';
import { Argument, Command as Commander, CommanderError, Option } from 'commander';
import { CATCH_UP, catchUp } from './catch-up/run.ts';
import type { Command, Example, Parameter } from './command.ts';
import { COMMANDS } from './commands/all.ts';
import type { Context } from './context.ts';
import { EXIT, type ExitCode, Failure } from './failure.ts';
import { describeSurroundings } from './help.ts';
import { createOutput, type OutputOptions, reportError } from './output.ts';
import { VERSION } from './version.ts';

/** Runs one invocation; the exit code says how it went. */
export async function runProgram(context: Context, args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = createProgram(context, (code) => {
    exitCode = code;
  });
  try {
    if (args[0] === CATCH_UP) await catchUp(context);
    else await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help and the version were asked for, or nothing was.
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) return EXIT.ok;
    return reportError(error instanceof CommanderError ? misuse(error) : error, context, args.includes('--json'));
  }
}

type OnExit = (exitCode: ExitCode) => void;

function createProgram(context: Context, onExit: OnExit): Commander {
  const program = new Commander('capture')
    .description('Records what coding agents did on this machine, and sends it to your Session Capture service.')
    .version(VERSION)
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', describeSurroundings())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      // Only help that was not asked for: of errors `runProgram` tells.
      writeErr: (text) => void context.stdout.write(text),
      outputError: () => {},
      getOutHelpWidth: () => context.stdout.columns ?? 80,
    });
  addEverywhere(program);
  for (const command of COMMANDS) addCommand(program, command, context, onExit);
  addCompletion(program, { completionCommandName: 'completion' });
  // Shell directive 0: where no word of ours fits, the shell completes a path. The library would have nothing offered.
  Object.defineProperty(completions, 'directive', { get: () => 0, set() {} });
  return program;
}

function addCommand(parent: Commander, command: Command, context: Context, onExit: OnExit): void {
  const { name, summary, description, examples, run } = command;
  const added = parent.command(name).summary(summary).description(description).helpCommand(false);
  added.addHelpText('before', () => layOut(examples));
  const takesArguments = Object.entries(command.arguments ?? {});
  const takesOptions = Object.entries(command.options ?? {});
  for (const [, parameter] of takesArguments) added.addArgument(toArgument(parameter));
  for (const [, parameter] of takesOptions) added.addOption(toOption(parameter, context));
  addEverywhere(added);
  for (const inner of command.commands ?? []) addCommand(added, inner, context, onExit);
  if (run === undefined) return;
  added.action(async () => {
    const given = added.optsWithGlobals<Record<string, unknown> & OutputOptions>();
    const values = Object.fromEntries([
      ...takesArguments.map(([key, { absent }], index) => [key, added.processedArgs[index] ?? absent]),
      ...takesOptions.map(([key, { flags, absent }]) => [key, given[new Option(flags).attributeName()] ?? absent]),
    ]);
    const exitCode = await run(context, values as never, createOutput(context, given));
    if (typeof exitCode === 'number') onExit(exitCode);
  });
}

/** Also where a command stands behind: one writes `capture status --json`. */
const addEverywhere = (command: Commander): Commander =>
  command.option('--json', 'answer in JSON, errors too').option('--quiet', 'say only what went wrong');

function toArgument({ flags, about, parse }: Parameter<unknown>): Argument {
  const argument = new Argument(flags, about);
  return parse ? argument.argParser(parse) : argument;
}

function toOption({ flags, about, parse }: Parameter<unknown>, { agents }: Context): Option {
  const option = new Option(flags, about);
  // What a shell completes it with; the command says which it does not know.
  if (option.long === '--agent') option.argChoices = [...new Set(agents.map(({ id }) => id))];
  return parse ? option.argParser(parse) : option;
}

function layOut(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(([line]) => line.length)) + 2;
  return `Examples:\n${examples.map(([line, about]) => `  ${line.padEnd(width)}${about}\n`).join('')}`;
}

/** What was not understood, with what may have been meant as the hint. */
function misuse({ message }: CommanderError): Failure {
  const [, sentence = message, hint] = /^(?:error: )?(.*?)(?:\n\((.*)\))?$/s.exec(message) ?? [];
  return new Failure(EXIT.usage, sentence, hint);
}
