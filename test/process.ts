import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** A program that runs as a process of its own. */
export interface Running {
  pid: number;
  /** All its output, also that on standard error. */
  output(): string;
  /** Its standard output. */
  stdout(): string;
  /**
   * Waits until the output matches. Rejects with the output if the program ends before.
   * @returns the first match
   */
  until(expression: RegExp): Promise<RegExpExecArray>;
  /** Settles when the process has ended and its output is complete, with its exit code or the signal that ended it. */
  ended: Promise<number | string>;
  isRunning(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Closes the other end of its standard output and error. */
  leave(): void;
  /** Sends a signal and waits until the process has ended. @returns its exit code, or the signal that ended it */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

export interface Surroundings {
  /** All variables besides the search path and the compile cache. */
  env: Record<string, string | undefined>;
  cwd?: string | undefined;
  /** Also gets the output. */
  log?: { write(text: string): unknown } | undefined;
}

/** How long a process that has ended may leave its output open, in the hands of processes that it started. */
const HELD_MS = 1_000;

const running = new Set<ChildProcess>();

/** Kills the processes that a failed test has left running. */
export function killLeftovers(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts the program. Every process that a test or a measurement talks to is started here. */
export function startProcess(command: readonly string[], { env, cwd, log }: Surroundings): Running {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(child, 'close');
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  let stdout = '';
  let more = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (stream === child.stdout) stdout += text;
      log?.write(text);
      more.resolve();
      more = Promise.withResolvers();
    });
  }
  const ended = exited.then(async ([code, signal]) => {
    await Promise.race([closed, pause(HELD_MS, undefined, { ref: false })]);
    return code ?? String(signal);
  });
  return {
    pid: Number(child.pid),
    output: () => output,
    stdout: () => stdout,
    async until(expression) {
      const early = ended.then((how) => {
        throw new Error(`${command.join(' ')} ended with ${how} before it said ${expression}:\n${output}`);
      });
      early.catch(() => undefined);
      for (;;) {
        const found = expression.exec(output);
        if (found) return found;
        await Promise.race([more.promise, early]);
      }
    },
    ended,
    isRunning: () => running.has(child),
    signal: (name) => void child.kill(name),
    leave() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
