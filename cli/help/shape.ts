import { type Argument, type Command, Help, type Option } from 'commander';
import { type Example, examplesOf } from './examples.ts';

/** What a command takes, read off its definition: the one source of completions, manual page and tests. */
export interface CommandShape {
  /** The words after `capture`; none for the program itself. */
  path: string[];
  summary: string;
  description: string;
  /** As after `Usage:`. */
  usage: string;
  arguments: ArgumentShape[];
  /** Its own, then those that every command has. */
  options: OptionShape[];
  examples: readonly Example[];
  commands: CommandShape[];
}

export interface ArgumentShape extends Values {
  name: string;
  description: string;
  isVariadic: boolean;
}

export interface OptionShape {
  /** As in the help, e.g. `--agent <id>`. */
  flags: string;
  /** `--agent`, `-h`. */
  names: string[];
  description: string;
  /** Absent where the option takes no value. */
  value?: Values;
}

/** What may stand in a place: one of some words, a path, or anything. */
export interface Values {
  words: readonly string[];
  kind: 'words' | 'file' | 'folder' | 'text';
}

const help = new Help();

/** `agents` are those that `--agent` takes. */
export function describeProgram(program: Command, agents: readonly { id: string }[]): CommandShape {
  // An agent that keeps sessions in two ways is two here, of one id.
  const ids = [...new Set(agents.map(({ id }) => id))];
  const everywhere = program.options.filter((option) => option.long !== '--version' && !option.hidden);
  const shapeOf = (command: Command, path: string[]): CommandShape => {
    const own = help.visibleOptions(command);
    return {
      path,
      summary: help.subcommandDescription(command),
      description: command.description(),
      usage: help.commandUsage(command),
      arguments: command.registeredArguments.map(argumentShape),
      options: [...own, ...(command === program ? [] : everywhere)].map((option) => optionShape(option, ids)),
      examples: examplesOf(command),
      commands: help.visibleCommands(command).map((inner) => shapeOf(inner, [...path, inner.name()])),
    };
  };
  return shapeOf(program, []);
}

/** A command and all below it, each before those it holds. */
export const flatten = (shape: CommandShape): CommandShape[] => [shape, ...shape.commands.flatMap(flatten)];

function argumentShape(argument: Argument): ArgumentShape {
  const name = argument.name();
  return {
    name,
    description: argument.description,
    isVariadic: argument.variadic,
    ...valuesOf(name, argument.argChoices),
  };
}

function optionShape(option: Option, agents: readonly string[]): OptionShape {
  const { flags, description, long, short, argChoices } = option;
  const value = /[<[]([^\]>.]+)/.exec(flags)?.[1];
  const choices = long === '--agent' ? agents : argChoices;
  return {
    flags,
    names: [long, short].filter((name) => name !== undefined),
    description,
    ...(value !== undefined && { value: valuesOf(value, choices) }),
  };
}

/** Places for paths are told by their names, as people read them too. */
function valuesOf(name: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return { words: choices, kind: 'words' };
  const kind = /^(path|file)s?$/i.test(name) ? 'file' : /^folders?$/i.test(name) ? 'folder' : 'text';
  return { words: [], kind };
}
