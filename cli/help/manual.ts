import type { Agent } from '../agents/agent.ts';
import type { Block } from './page.ts';
import { type CommandShape, flatten } from './shape.ts';
import { TOPICS } from './topics.ts';

/** The manual page, as `man` reads it: https://man7.org/linux/man-pages/man7/man-pages.7.html names the sections. */
export function renderManual(program: CommandShape, agents: readonly Agent[], version: string): string {
  const commands = flatten(program).filter(({ path }) => path.length > 0);
  return [
    `.TH CAPTURE 1 "" "Session Capture ${version}" "Session Capture"`,
    '.SH NAME',
    `capture \\- ${roff(lowerFirst(program.description).replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    `.B ${roff(program.usage)}`,
    '.SH OPTIONS',
    ...optionLines(program),
    '.SH COMMANDS',
    ...commands.flatMap((command) => commandLines(command, program)),
    ...TOPICS.flatMap(({ name, blocks }) => [
      `.SH ${(TITLES[name] ?? name).toUpperCase()}`,
      ...blocks(agents).flatMap(renderBlock),
    ]),
    '',
  ].join('\n');
}

/** Names that manual pages have for something. */
const TITLES: { [topic: string]: string } = { 'exit-codes': 'exit status' };

function commandLines(command: CommandShape, program: CommandShape): string[] {
  return [
    `.SS capture ${roff(command.path.join(' '))}`,
    roff(command.description),
    ...command.examples.flatMap(([line, about]) => ['.PP', `${roff(about)}:`, ...verbatim([line])]),
    '.PP',
    `.B ${roff(command.usage)}`,
    ...command.arguments.flatMap(({ name, description }) => term(name, description)),
    ...optionLines({ ...command, options: command.options.filter((option) => !isEverywhere(option.flags, program)) }),
  ];
}

const isEverywhere = (flags: string, program: CommandShape): boolean =>
  program.options.some((option) => option.flags === flags);

const optionLines = ({ options }: CommandShape): string[] =>
  options.flatMap(({ flags, description }) => term(flags, description));

function renderBlock(block: Block): string[] {
  if (typeof block === 'string') return ['.PP', roff(block)];
  return 'lines' in block ? verbatim(block.lines) : block.terms.flatMap(([word, about]) => term(word, about));
}

const term = (word: string, about: string): string[] => ['.TP', `.B ${roff(word)}`, roff(about)];

const verbatim = (lines: readonly string[]): string[] => ['.PP', '.RS 4', '.nf', ...lines.map(roff), '.fi', '.RE'];

/** Nothing in a text is taken for a command of roff; hyphens stay hyphens, so that options can be searched and copied. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replace(/^[.']/, '\\&$&')
    .replaceAll('"', '\\(dq');

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);
