import { styleText } from 'node:util';
import { formatCount } from '../contract/count.ts';
import type { Context, Sink } from './context.ts';
import { Declined, toFailure } from './failure.ts';
import { toPlainText } from './terminal.ts';

export interface OutputOptions {
  json?: boolean;
  quiet?: boolean;
}

/** A line for people. If it has parts, the first part is coloured where colours are supported. */
export type OutputLine =
  | string
  | readonly [colour: 'red' | 'yellow' | 'green' | 'dim' | 'bold', coloured: string, rest: string];

export type Output = ReturnType<typeof createOutput>;

type World = Pick<Context, 'stdout' | 'stderr'> & Partial<Pick<Context, 'variables'>>;

/** The answer goes to stdout; all other messages go to stderr. */
export function createOutput({ stdout, stderr, variables = {} }: World, { json, quiet }: OutputOptions) {
  const { NO_COLOR, FORCE_COLOR } = variables;
  const isColoured = !NO_COLOR && (FORCE_COLOR ? FORCE_COLOR !== '0' : stdout.isTTY === true);

  function render(line: OutputLine): string {
    if (typeof line === 'string') return toPlainText(line);
    const [colour, coloured, rest] = line;
    const plain = toPlainText(coloured);
    return (isColoured ? styleText(colour, plain, { validateStream: false }) : plain) + toPlainText(rest);
  }

  return {
    json: json === true,
    quiet: quiet === true,
    /** The sink for progress lines. */
    progress: (json || quiet ? { write() {} } : stderr) as Sink,
    /** The command's answer: an object for programs, lines for people. */
    answer(value: object, lines: readonly OutputLine[]): void {
      if (json) stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
      else if (!quiet) for (const line of lines) stdout.write(`${render(line)}\n`);
    },
    say(line: string): void {
      if (!quiet && !json) stderr.write(`${toPlainText(line)}\n`);
    },
    /** Printed even with `--quiet`. */
    warn(line: string): void {
      stderr.write(`${toPlainText(`warning: ${line}`)}\n`);
    },
  };
}

/** Reports an error and how to fix it. Returns the exit code. */
export function reportError(error: unknown, { stderr }: Pick<Context, 'stderr'>, json: boolean): number {
  const { message, hint, exitCode } = toFailure(error);
  const problem = { error: toPlainText(message), ...(hint && { hint: toPlainText(hint) }), exitCode };
  if (json) stderr.write(`${JSON.stringify(problem)}\n`);
  else if (error instanceof Declined) stderr.write(`${problem.error}\n`);
  else stderr.write(`error: ${problem.error}\n${problem.hint ? `hint: ${problem.hint}\n` : ''}`);
  return exitCode;
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

/** In the time zone of this machine. */
export function formatMoment(ms: number): string {
  const date = new Date(ms);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function formatAge(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return formatCount(minutes, 'minute');
  return minutes < 48 * 60
    ? formatCount(Math.round(minutes / 60), 'hour')
    : formatCount(Math.round(minutes / 1440), 'day');
}
