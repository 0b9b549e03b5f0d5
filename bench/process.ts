import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../script/release/bundle.ts';
import { freePort } from '../server/public-url.ts';
import { startIssuer } from './issuer.ts';
import { PEPPER, seed } from './seed.ts';

const MAIN = fileURLToPath(new URL('../server/main.ts', import.meta.url));

export interface RunningService {
  url: string;
  port: number;
  child: ChildProcess;
  /** Processor time used so far, in seconds. */
  cpuSeconds(): number;
  /** The share of it that deriving had, on its own thread. */
  derivingSeconds(): number;
  stop(): Promise<void>;
}

/** The store of a service: PostgreSQL where an address is given, else in the folder. */
export interface Where {
  dataDir: string;
  databaseUrl?: string;
}

/** Starts the service as its users do, on a seeded store, with limits off. `NODE_FLAGS` among the variables are Node's. */
export async function startService(
  { dataDir, databaseUrl }: Where,
  extra: Record<string, string> = {},
  program = MAIN,
): Promise<RunningService> {
  const port = await freePort('127.0.0.1');
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: String(port),
    DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    SECRET_PEPPER: PEPPER,
    LOG_LEVEL: 'warn',
    RATE_LIMIT_SECRET: '0',
    RATE_LIMIT_USER: '0',
    RATE_LIMIT_ADDRESS: '0',
    ...extra,
  };
  const options = extra.NODE_FLAGS ? extra.NODE_FLAGS.split(' ') : [];
  const child = spawn(process.execPath, [...options, program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await ready(child);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    child,
    cpuSeconds: () => cpuSeconds(child.pid ?? 0),
    derivingSeconds: () => threadSeconds(child.pid ?? 0, 'indexer'),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** The service with an organization in it and the secret of one, on a data folder below the given one. */
export async function startSeededService(folder: string, extra: Record<string, string> = {}) {
  const issuer = await startIssuer();
  const dataDir = join(folder, 'data');
  const { secret } = await seed({ dataDir }, issuer.url, 'owner', async () => ({}));
  const { url, stop, cpuSeconds, derivingSeconds } = await startService({ dataDir }, { ...issuer.env, ...extra });
  return {
    ...{ dataDir, secret, url, cpuSeconds, derivingSeconds },
    async stop() {
      await stop();
      issuer.close();
    },
  };
}

/** Waits for the line that says so, which a warning may come before. */
async function ready(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit').then(() => {
    throw new Error('the process ended before it was ready');
  });
  const said = new Promise<void>((resolve) => {
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (/ is ready/.test(output)) resolve();
    });
  });
  await Promise.race([said, exited]);
}

/** The command line in one file in a folder, as `script/capture` runs it; with `BENCH_CAPTURE` another, such as `cli/main.ts`. */
export async function makeCapture(folder: string): Promise<string> {
  if (process.env.BENCH_CAPTURE !== undefined) return process.env.BENCH_CAPTURE;
  const path = join(folder, 'capture.cjs');
  writeFileSync(path, (await bundleProgram()).code);
  return path;
}

/** Runs the work with a folder of its own, which is removed afterwards. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'capture-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const megabytes = (pid: number, field: string) =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;

/** Of a process, in MB. */
export const residentMemory = (pid: number): number => megabytes(pid, 'VmRSS');
/** The most it was since the start, or since `resetPeak`. */
export const peakMemory = (pid: number): number => megabytes(pid, 'VmHWM');
export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

/** From Linux's accounting, in ticks of 1/100 s. */
function cpuSeconds(pid: number | string): number {
  const [user = 0, system = 0] = ticksOf(pid);
  return (user + system) / 100;
}

/** Of the threads of that name. */
function threadSeconds(pid: number, name: string): number {
  const threads = readdirSync(`/proc/${pid}/task`).filter(
    (thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim() === name,
  );
  return threads.reduce((sum, thread) => sum + cpuSeconds(`${pid}/task/${thread}`), 0);
}

/** Of the process itself, in its own code and the system's, and the same of its children that have ended. */
function ticksOf(pid: number | string): number[] {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).map(Number);
}

/** A process with all that it has started: processor time in seconds, and memory in MB, what several share counted once. */
export function measureFamily(pid: number): { cpuSeconds: number; memory: number } {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    const families = children.map((child) => measureFamily(Number(child)));
    const share = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1000;
    return {
      cpuSeconds: ticksOf(pid).reduce((sum, ticks) => sum + ticks / 100, 0) + sumOf(families, 'cpuSeconds'),
      memory: share + sumOf(families, 'memory'),
    };
  } catch {
    // It has ended.
    return { cpuSeconds: 0, memory: 0 };
  }
}

/** Processor time in seconds of what this process has started and still runs, by its `ROLE`, or the program's name. */
export function cpuByKind(): Record<string, number> {
  const times: Record<string, number> = {};
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
  for (const pid of children) {
    const kind = kindOf(pid);
    times[kind] = (times[kind] ?? 0) + measureFamily(Number(pid)).cpuSeconds;
  }
  return times;
}

function kindOf(pid: string): string {
  try {
    const role = /\0ROLE=(\w+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1];
    return role ?? readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'ended';
  }
}

const sumOf = <Name extends string>(items: readonly Record<Name, number>[], name: Name): number =>
  items.reduce((sum, item) => sum + item[name], 0);
