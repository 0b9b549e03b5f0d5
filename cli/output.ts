import type { Context, Sink } from './context.ts';
import { describe, EXIT, type ExitCode, Failure } from './failure.ts';
import { toPlainText } from './terminal.ts';

export interface OutputOptions {
  json?: boolean;
  quiet?: boolean;
}

export type Output = ReturnType<typeof createOutput>;

/** What was asked for goes to stdout, everything said about it to stderr. */
export function createOutput({ stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>, { json, quiet }: OutputOptions) {
  return {
    json: json === true,
    quiet: quiet === true,
    /** Where to show how far it is. */
    progress: (json || quiet ? { write() {} } : stderr) as Sink,
    /** The command's answer: an object for programs, lines for people. */
    answer(value: object, lines: readonly string[]): void {
      if (json) stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
      else if (!quiet) for (const line of lines) stdout.write(`${toPlainText(line)}\n`);
    },
    say(line: string): void {
      if (!quiet && !json) stderr.write(`${toPlainText(line)}\n`);
    },
    /** Said even when asked to be quiet. */
    warn(line: string): void {
      stderr.write(`${toPlainText(`warning: ${line}`)}\n`);
    },
  };
}

/** Tells of an error and what to do about it; returns the exit code. */
export function reportError(error: unknown, { stderr }: Pick<Context, 'stderr'>, json: boolean): ExitCode {
  const hint = error instanceof Failure && error.hint !== undefined ? toPlainText(error.hint) : undefined;
  const exitCode = error instanceof Failure ? error.exitCode : EXIT.failure;
  const sentence = toPlainText(describe(error));
  if (json) stderr.write(`${JSON.stringify({ error: sentence, ...(hint && { hint }), exitCode })}\n`);
  else stderr.write(`error: ${sentence}\n${hint ? `hint: ${hint}\n` : ''}`);
  return exitCode;
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

export function formatAge(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return formatCount(minutes, 'minute');
  return minutes < 48 * 60
    ? formatCount(Math.round(minutes / 60), 'hour')
    : formatCount(Math.round(minutes / 1440), 'day');
}
