import type { Command } from 'commander';

/** A command line as one would type it, and what it does. */
export type Example = readonly [line: string, about: string];

const EXAMPLES = new WeakMap<Command, readonly Example[]>();

/** Gives a command examples, which its `--help` begins with. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  EXAMPLES.set(command, examples);
  return command.addHelpText('before', () => `Examples:\n${layOut(examples)}`);
}

export const examplesOf = (command: Command): readonly Example[] => EXAMPLES.get(command) ?? [];

function layOut(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(([line]) => line.length)) + 2;
  return examples.map(([line, about]) => `  ${line.padEnd(width)}${about}\n`).join('');
}
