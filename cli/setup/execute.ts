import { type Context, childEnvironment } from '../context.ts';

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
    const options = { cwd: home, env: childEnvironment(variables), timeout: timeoutMs, windowsHide: true } as const;
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], killSignal: 'SIGKILL' });
    const streams = [child.stdout, child.stderr];
    let output = '';
    for (const stream of streams) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const end = (code: number | null) => {
      for (const stream of streams) stream.destroy();
      resolve({ exitCode: code ?? undefined, output });
    };
    // A program of its own that it left running holds its outputs open: then `close` does not come.
    child
      .once('error', () => end(null))
      .once('close', end)
      .once('exit', (code) => setTimeout(end, REST_MS, code));
  });
}
