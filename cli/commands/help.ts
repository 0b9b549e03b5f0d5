import { Argument, type Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { withExamples } from '../help/examples.ts';
import { renderManual } from '../help/manual.ts';
import { type Block, renderText } from '../help/page.ts';
import { describeProgram } from '../help/shape.ts';
import { TOPICS, type Topic } from '../help/topics.ts';
import type { Output } from '../output.ts';
import { VERSION } from '../version.ts';

export interface HelpOptions {
  program: Command;
  words: string[];
  man?: boolean;
}

/** Lines on wide terminals are hard to read. */
const WIDEST = 100;
const PIPE_WIDTH = 80;

/** Comes after the other commands, whose names it takes. */
export function addHelp(program: Command, run: (options: HelpOptions) => Promise<void>): void {
  const names = [...program.commands.map((command) => command.name()), ...TOPICS.map(({ name }) => name)];
  // The parser takes the place of the check against the names, to which a command's own commands do not belong.
  const words = new Argument('[TOPIC...]', 'a command or a topic')
    .choices(names)
    .argParser((word, before: string[] = []) => [...before, word]);
  const command = program
    .command('help')
    .summary('show help for a command or a topic')
    .description('Shows what a command does, or what there is to know about a topic.')
    .addArgument(words)
    .option('--man', 'print the manual page, with all commands and topics')
    .action((given: string[] = [], options: Pick<HelpOptions, 'man'>) => run({ program, words: given, ...options }));
  withExamples(command, [
    ['capture help import', 'what the command import does'],
    ['capture help privacy', 'how to leave something out'],
    ['capture help --man | man -l -', 'all of it at once'],
  ]);
  program.addHelpText('after', `\nTopics of \`capture help\`:\n${renderText([topicList()], PIPE_WIDTH).join('\n')}`);
}

export async function runHelp(context: Context, { program, words, man }: HelpOptions, output: Output): Promise<void> {
  if (man) return showManual(context, program, output);
  const topic = words.length === 1 ? TOPICS.find(({ name }) => name === words[0]) : undefined;
  if (topic !== undefined) return showTopic(context, topic, output);
  const command = words.reduce<Command | undefined>(
    (outer, word) => outer?.commands.find((inner) => inner.name() === word),
    program,
  );
  if (command === undefined) {
    const known = TOPICS.map(({ name }) => name).join(', ');
    throw new Failure(EXIT.usage, `There is no help about ${words.join(' ')}.`, `Topics: ${known}, and every command.`);
  }
  if (output.json) output.answer(describeProgram(command, context.agents), []);
  else command.outputHelp();
}

function showTopic({ agents, stdout }: Context, { name, summary, blocks }: Topic, output: Output): void {
  const content = blocks(agents);
  output.answer({ topic: name, summary, content }, renderText(content, Math.min(stdout.columns ?? PIPE_WIDTH, WIDEST)));
}

function showManual({ agents }: Context, program: Command, output: Output): void {
  const manual = renderManual(describeProgram(program, agents), agents, VERSION);
  output.answer({ manual }, manual.trimEnd().split('\n'));
}

const topicList = (): Block => ({ terms: TOPICS.map(({ name, summary }) => [name, summary] as const) });
