import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type Running, startProcess } from '../../test/process.ts';
import { AGENTS } from '../agents/all.ts';
import type { Context } from '../context.ts';
import { fetchPlainly } from '../http.ts';
import { runProgram } from '../program.ts';

export interface Run {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  home: string;
  url?: string;
  secret?: string;
  variables?: Record<string, string>;
  isTTY?: boolean;
  input?: string;
  context?: Partial<Context>;
}

/** Runs a command in this process. It uses only the network and the disk of the real machine. */
export async function run(args: string[], options: RunOptions): Promise<Run> {
  const { context, written } = createContext(options);
  const exitCode = await runProgram(context, args);
  return { exitCode, ...written };
}

/** The context of a command in this process, and the command's output. */
export function createContext(options: RunOptions): { context: Context; written: { stdout: string; stderr: string } } {
  const written = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof written) => ({
    isTTY: options.isTTY === true,
    write(text: string) {
      written[name] += text;
    },
  });
  const context: Context = {
    variables: environment(options),
    home: options.home,
    folder: options.home,
    hostname: 'box',
    platform: 'linux',
    agents: AGENTS,
    stdin: Object.assign(Readable.from([options.input ?? '']), { isTTY: options.isTTY === true }),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    fetch: fetchPlainly,
    spawn,
    program: [process.execPath, MAIN],
    now: Date.now,
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
    random: () => 0.01,
    newKey: () => crypto.randomUUID(),
    pid: 1,
    lowerPriority: () => {},
    takeSignals: () => {},
    stop: new AbortController().signal,
    ...options.context,
  };
  return { context, written };
}

const environment = ({ home, url, secret, variables }: RunOptions): Record<string, string> => ({
  HOME: home,
  CAPTURE_HOME: join(home, 'state'),
  ...(url !== undefined && { CAPTURE_URL: url }),
  ...(secret !== undefined && { CAPTURE_SECRET: secret }),
  ...variables,
});

const MAIN = join(import.meta.dirname, '..', 'main.ts');

/** Starts the program in a separate process, which finds no programs of this machine; `flags` are flags of Node. */
export const start = (args: readonly string[], options: RunOptions, flags: readonly string[] = []): Running =>
  startProcess([process.execPath, ...flags, MAIN, ...args], { env: { PATH: undefined, ...environment(options) } });
