import { Argument, type Command } from 'commander';
import type { Context } from '../context.ts';
import { bashCompletion } from '../help/completion/bash.ts';
import { fishCompletion } from '../help/completion/fish.ts';
import { zshCompletion } from '../help/completion/zsh.ts';
import { withExamples } from '../help/examples.ts';
import { type CommandShape, describeProgram } from '../help/shape.ts';
import type { Output } from '../output.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } satisfies {
  [shell: string]: (program: CommandShape) => string;
};

export interface CompletionOptions {
  program: Command;
  shell: keyof typeof SHELLS;
}

export function addCompletion(program: Command, run: (options: CompletionOptions) => Promise<void>): void {
  const command = program
    .command('completion')
    .summary('print completions for your shell')
    .description('Prints a script with which a shell completes commands, options and the names of agents.')
    .addArgument(new Argument('<SHELL>', 'the shell that reads the script').choices(Object.keys(SHELLS)))
    .action((shell: keyof typeof SHELLS) => run({ program, shell }));
  withExamples(command, [
    ['source <(capture completion bash)', 'a line for ~/.bashrc'],
    ['source <(capture completion zsh)', 'a line for ~/.zshrc, after compinit'],
    ['capture completion fish | source', 'a line for ~/.config/fish/config.fish'],
  ]);
}

export async function runCompletion(
  { agents }: Context,
  { program, shell }: CompletionOptions,
  output: Output,
): Promise<void> {
  const script = SHELLS[shell](describeProgram(program, agents));
  output.answer({ shell, script }, script.trimEnd().split('\n'));
}
