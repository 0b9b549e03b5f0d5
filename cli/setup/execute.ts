import type { Context } from '../context.ts';

export interface Execution {
  /** Undefined where the program could not be run or took too long. */
  exitCode: number | undefined;
  /** What it wrote, to either stream. */
  output: string;
}

/** What was written before the end arrives shortly after it. */
const REST_MS = 500;

/**
 * Runs a program of the system with nothing on its standard input; never throws. What it leaves running is not waited for,
 * and is not handed capture's secret.
 */
export function execute(
  { spawn, variables, home }: Pick<Context, 'spawn' | 'variables' | 'home'>,
  [program = '', ...args]: readonly string[],
  timeoutMs: number,
): Promise<Execution> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: home,
      env: { ...variables, CAPTURE_SECRET: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      windowsHide: true,
    });
    const streams = [child.stdout, child.stderr];
    let output = '';
    for (const stream of streams) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    const end = (exitCode: number | undefined) => {
      for (const stream of streams) stream.destroy();
      resolve({ exitCode, output });
    };
    child.once('error', () => end(undefined));
    child.once('close', (code) => end(code ?? undefined));
    // A program of its own that it left running holds its outputs open.
    child.once('exit', (code) => setTimeout(end, REST_MS, code ?? undefined));
  });
}
