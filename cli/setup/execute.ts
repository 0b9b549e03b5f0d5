import type { Context } from '../context.ts';

export interface Execution {
  /** Undefined where the program could not be run or took too long. */
  exitCode: number | undefined;
  /** What it wrote, to either stream. */
  output: string;
}

/** Runs a program with nothing on its standard input; never throws. */
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
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const exitCode = await new Promise<number | undefined>((resolve) => {
      child.once('error', () => resolve(undefined));
      child.once('close', (code) => resolve(code ?? undefined));
    });
    return { exitCode, output: Buffer.concat(chunks).toString('utf8') };
  } catch {
    return { exitCode: undefined, output: '' };
  }
}
