import type { Context } from '../context.ts';

export interface Execution {
  /** Undefined where the program could not be run or took too long. */
  exitCode: number | undefined;
  /** What it wrote, to either stream. */
  output: string;
}

/** What was written before the end arrives shortly after it. */
const REST_MS = 500;
/** More is not kept: what is asked for stands in the first lines. */
const MOST_BYTES = 64 * 1024;

/** Runs a program with nothing on its standard input; never throws. What it leaves running is not waited for. */
export async function execute(
  { spawn, variables, home }: Pick<Context, 'spawn' | 'variables' | 'home'>,
  [program = '', ...args]: readonly string[],
  timeoutMs: number,
): Promise<Execution> {
  try {
    const child = spawn(program, args, {
      cwd: home,
      env: variables,
      // What npm installs on Windows are batch files, which only a shell runs.
      shell: /\.(cmd|bat)$/i.test(program),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    const streams = [child.stdout, child.stderr];
    let kept = 0;
    for (const stream of streams) {
      stream.on('data', (chunk: Buffer) => {
        if (kept < MOST_BYTES) chunks.push(chunk);
        kept += chunk.length;
      });
    }
    const exitCode = await new Promise<number | undefined>((resolve) => {
      child.once('error', () => resolve(undefined));
      child.once('close', (code) => resolve(code ?? undefined));
      // A program of its own that it left running holds its outputs open.
      child.once('exit', (code) => setTimeout(resolve, REST_MS, code ?? undefined));
    });
    for (const stream of streams) stream.destroy();
    return { exitCode, output: Buffer.concat(chunks).toString('utf8') };
  } catch {
    return { exitCode: undefined, output: '' };
  }
}
