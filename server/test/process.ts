import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../public-url.ts';

/**
 * The service as it is shipped; `built-service.ts` builds it before the tests. A start from source would take 0.85 s of processor
 * time instead of 0.2 s.
 */
export const BUILT_SERVICE = fileURLToPath(new URL('../../artefacts/service/main.cjs', import.meta.url));

/** The service as a process of its own. */
export interface ServiceProcess {
  url: string;
  pid: number;
  /** All its output. */
  output(): string;
  /** Settles when the process has ended, with its exit code or the signal that ended it. */
  ended: Promise<number | string>;
  signal(name: NodeJS.Signals): void;
  /** Closes the other end of its standard output and error. */
  leave(): void;
  /** Sends a signal and waits until the process has ended. @returns its exit code, or the signal that ended it */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>;
}

const running = new Set<ChildProcess>();

/** Kills the processes that a failed test has left running. */
export function killLeftovers(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts the program on the folder. Rejects with its output if it ends before it is ready. */
export async function startProcess(...given: Parameters<typeof launchProcess>): Promise<ServiceProcess> {
  const { ready, ...launched } = await launchProcess(...given);
  await ready;
  return launched;
}

/** Starts the program without waiting until it is ready. */
export async function launchProcess(
  dataDir: string,
  variables: Record<string, string> = {},
  program = BUILT_SERVICE,
): Promise<ServiceProcess & { ready: Promise<void> }> {
  const port = await freePort('127.0.0.1');
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [program], {
    env: { PATH, NODE_COMPILE_CACHE, LOG_LEVEL: 'warn', DATA_DIR: dataDir, PORT: String(port), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const isReady = untilReady(child, ended, () => output);
  isReady.catch(() => undefined);
  const how = ended.then(([code, by]) => code ?? String(by));
  return {
    url: `http://127.0.0.1:${port}`,
    pid: Number(child.pid),
    output: () => output,
    ready: isReady,
    ended: how,
    signal: (name) => void child.kill(name),
    leave() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    end(signal) {
      child.kill(signal);
      return how;
    },
  };
}

async function untilReady(child: ChildProcess, ended: Promise<[number | null, unknown]>, output: () => string) {
  const early = ended.then(([code]) => {
    throw new Error(`the process ended with ${code} before it was ready:\n${output()}`);
  });
  early.catch(() => undefined);
  while (!output().includes('is ready'))
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), early]);
}
