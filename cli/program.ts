import completions from '@bomb.sh/tab';
import addCompletion from '@bomb.sh/tab/commander';
import { Command as Commander, CommanderError, Option } from 'commander';
import type { Command, Example, Parameter } from './command.ts';
import { COMMANDS } from './commands/all.ts';
import type { Context } from './context.ts';
import { EXIT, Failure, SecretRefused } from './failure.ts';
import { createOutput, type OutputOptions, reportError } from './output.ts';
import { withMoreFolders } from './privacy/preferences.ts';
import { READ_APART, readForAnother } from './reading.ts';
import { VERSION } from './version.ts';

/** Variables and exit codes of every command, shown below the program's help. */
const SURROUNDINGS = `
Variables:
  CAPTURE_URL           address of the service, instead of the stored one
  CAPTURE_SECRET        organization secret, instead of the stored one
  CAPTURE_HOME          where capture keeps its files (default: ~/.capture)
  NO_COLOR              no colours; FORCE_COLOR=1 forces them
  NODE_USE_ENV_PROXY=1  use the proxies in HTTPS_PROXY, HTTP_PROXY and NO_PROXY
  NODE_EXTRA_CA_CERTS   a file of additional certificates to trust

Exit codes:
  0   done
  1   failed; the message says why, and what to do
  2   the command line or a file it names is wrong; nothing was done
  4   sign in first; what was captured is kept
  75  try again later: the service cannot be reached or is busy; nothing is lost
`;

/** Runs one invocation and returns its exit code. */
export async function runProgram(given: Context, args: readonly string[]): Promise<number> {
  const context = withMoreFolders(given);
  let exitCode: number = EXIT.ok;
  const program = createProgram(context, (code) => {
    exitCode = code;
  });
  try {
    if (args[0] === 'version' || args[0] === '-v') return await runProgram(given, ['--version', ...args.slice(1)]);
    if (args[0] === READ_APART) await readForAnother(context);
    else await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // The person asked for help or the version, or gave no command. Help for an unknown command lists the commands.
    if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) {
      return args[0] === 'help' && error.exitCode !== 0 ? EXIT.usage : EXIT.ok;
    }
    const failure = error instanceof CommanderError ? misuse(error, args) : tellVariable(error, context);
    return reportError(failure, context, args.includes('--json'));
  }
}

/** Another sign-in does not help as long as the variable has the refused secret. */
function tellVariable(error: unknown, { variables }: Context): unknown {
  if (!(error instanceof SecretRefused && variables.CAPTURE_SECRET)) return error;
  const hint = `Correct CAPTURE_SECRET or unset it: CAPTURE_SECRET comes before the stored secret. ${error.hint}`;
  return new SecretRefused(error.message, hint, error);
}

type OnExit = (exitCode: number) => void;

function createProgram(context: Context, onExit: OnExit): Commander {
  const program = new Commander('capture')
    .description('Records what coding agents did on this machine, and sends it to your Session Capture service.')
    .version(VERSION)
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', SURROUNDINGS)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      // This only prints help after a wrong command. `runProgram` reports errors.
      writeErr: (text) => void context.stdout.write(text),
      outputError: () => {},
      getOutHelpWidth: () => context.stdout.columns ?? 80,
    });
  addEverywhere(program);
  for (const command of COMMANDS) addCommand(program, command, context, onExit);
  addCompletion(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.summary('print a completion script for your shell')
    .description('Prints a script that completes commands, options and agents in your shell.');
  // Shell directive 0: where none of our words fits, the shell completes a path. The library would offer nothing.
  Object.defineProperty(completions, 'directive', { get: () => 0, set() {} });
  return program;
}

function addCommand(parent: Commander, command: Command, context: Context, onExit: OnExit): void {
  const { name, summary, description, examples, run } = command;
  const added = parent.command(name).summary(summary).description(description).helpCommand(false);
  added.addHelpText('before', () => layOut(examples));
  const takes = Object.entries(command.takes ?? {}).map(([key, parameter]) => ({ key, ...parameter }));
  for (const parameter of takes) {
    if (isOption(parameter)) added.addOption(toOption(parameter, context));
    else added.argument(parameter.flags, parameter.about, parameter.parse ?? String);
  }
  addEverywhere(added);
  for (const inner of command.commands ?? []) addCommand(added, inner, context, onExit);
  if (run === undefined) return;
  added.action(async () => {
    const given = added.optsWithGlobals<Record<string, unknown> & OutputOptions>();
    const words = [...added.processedArgs];
    const values = takes.map((parameter) => {
      const { key, flags, absent } = parameter;
      const value = isOption(parameter) ? given[new Option(flags).attributeName()] : words.shift();
      return [key, value ?? absent];
    });
    const exitCode = await run(context, Object.fromEntries(values) as never, createOutput(context, given));
    if (typeof exitCode === 'number') onExit(exitCode);
  });
}

const isOption = ({ flags }: Pick<Parameter<unknown>, 'flags'>): boolean => flags.startsWith('-');

/** These options are also accepted after a command, because people write `capture status --json`. */
const addEverywhere = (command: Commander): Commander =>
  command.option('--json', 'print JSON, errors too').option('--quiet', 'print only errors');

function toOption({ flags, about, parse }: Parameter<unknown>, { agents }: Context): Option {
  const option = new Option(flags, about);
  // Choices for the shell's completion. The command reports an unknown one.
  if (option.long === '--agent') option.argChoices = [...new Set(agents.map(({ id }) => id))];
  return parse ? option.argParser(parse) : option;
}

function layOut(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(([line]) => line.length)) + 2;
  return `Examples:\n${examples.map(([line, about]) => `  ${line.padEnd(width)}${about}\n`).join('')}`;
}

/** Names that other programs give to a part of `capture status`. */
const IN_STATUS: Readonly<Record<string, string>> = {
  doctor: 'status',
  whoami: 'status',
  log: 'status --log',
  logs: 'status --log',
};

/** A command line that could not be parsed. The hint is a similar command, or the help to read. */
function misuse({ message, code }: CommanderError, args: readonly string[]): Failure {
  const [, sentence = message, similar] = /^(?:error: )?(.*?)(?:\n\((.*)\))?$/s.exec(message) ?? [];
  const [, value, argument, choices] =
    /value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/s.exec(sentence) ?? [];
  if (choices !== undefined) {
    return new Failure(EXIT.usage, `${value} is not a ${argument} that capture knows.`, `Write one of: ${choices}.`);
  }
  const [word = ''] = args;
  const command = COMMANDS.find(({ name }) => name === word);
  const status = Object.hasOwn(IN_STATUS, word) ? `\`capture ${IN_STATUS[word]}\` shows it.` : similar;
  const placed = code === 'commander.excessArguments' && command ? placeOfFile(command) : undefined;
  return new Failure(
    EXIT.usage,
    sentence,
    status ?? placed ?? `See \`capture ${command ? `${command.name} ` : ''}--help\`.`,
  );
}

/** The place of a file in a command that takes it only behind an option. */
function placeOfFile({ name, takes = {} }: Command): string | undefined {
  const parameters = Object.values(takes);
  const behind = parameters.every(isOption) ? parameters.find(({ flags }) => flags.endsWith(' <file>')) : undefined;
  return behind && `The file belongs behind an option: \`capture ${name} ${behind.flags}\`.`;
}
