import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleProgram } from '../script/release/bundle.ts';
import { startIssuer } from '../test/issuer.ts';
import { type Launch, type Service, SOURCE, startService, UNLIMITED } from '../test/service.ts';
import { PEPPER, seed } from './seed.ts';

/** A service whose work is measured. */
export interface MeasuredService extends Service {
  port: number;
  /** Processor time used so far, in seconds. */
  cpuSeconds(): number;
  /** The part of it that the deriving thread used. */
  derivingSeconds(): number;
  stop(): Promise<void>;
}

/** The store of a service: PostgreSQL if it has an address, otherwise the embedded store in the folder. */
export interface Where {
  dataDir: string;
  databaseUrl?: string;
}

/** Starts the service on a seeded store without rate limits, by default from source. */
export async function startMeasured(
  { dataDir, databaseUrl }: Where,
  extra: Record<string, string> = {},
  { program = SOURCE, flags }: Launch = {},
): Promise<MeasuredService> {
  const store = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl };
  const variables = { ...store, SECRET_PEPPER: PEPPER, ...UNLIMITED, ...extra };
  const service = await startService(dataDir, variables, { program, flags });
  return {
    ...service,
    port: Number(new URL(service.url).port),
    cpuSeconds: () => cpuSeconds(service.pid),
    derivingSeconds: () => threadSeconds(service.pid, 'indexer'),
    async stop() {
      if ((await service.end('SIGTERM')) !== 0) process.stderr.write(service.output());
    },
  };
}

/** Starts the service with an organization and a secret, on a data folder below the given one. */
export async function startSeededService(folder: string, extra: Record<string, string> = {}) {
  const issuer = await startIssuer();
  const dataDir = join(folder, 'data');
  const { secret } = await seed({ dataDir }, issuer.url, 'owner', async () => ({}));
  const { url, stop, cpuSeconds, derivingSeconds } = await startMeasured({ dataDir }, { ...issuer.env, ...extra });
  return {
    ...{ dataDir, secret, url, cpuSeconds, derivingSeconds },
    async stop() {
      await stop();
      issuer.close();
    },
  };
}

/** Bundles the command line as `script/capture` does. `BENCH_CAPTURE` names another program, such as `cli/main.ts`. */
export async function makeCapture(folder: string): Promise<string> {
  if (process.env.BENCH_CAPTURE !== undefined) return process.env.BENCH_CAPTURE;
  const path = join(folder, 'capture.cjs');
  writeFileSync(path, (await bundleProgram()).code);
  return path;
}

/** Runs the work with a temporary folder. */
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

/** Resident memory of a process, in MB. */
export const residentMemory = (pid: number): number => megabytes(pid, 'VmRSS');
/** Peak of the resident memory since the start or since `resetPeak`. */
export const peakMemory = (pid: number): number => megabytes(pid, 'VmHWM');
export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

/** Processor time from Linux's accounting, which has ticks of 1/100 s. */
function cpuSeconds(pid: number | string): number {
  const [user = 0, system = 0] = ticksOf(pid);
  return (user + system) / 100;
}

/** Processor time of the threads with that name. */
function threadSeconds(pid: number, name: string): number {
  const threads = readdirSync(`/proc/${pid}/task`).filter(
    (thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim() === name,
  );
  return threads.reduce((sum, thread) => sum + cpuSeconds(`${pid}/task/${thread}`), 0);
}

/** Ticks of the process in its own code and in the system's, and the same of its ended children. */
function ticksOf(pid: number | string): number[] {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).map(Number);
}

/** Processor time in seconds and memory in MB of a process and its descendants; shared memory counts once. */
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
    // The process has ended.
    return { cpuSeconds: 0, memory: 0 };
  }
}

/** Processor time in seconds of this process's running children, by their `ROLE` or program name. */
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
