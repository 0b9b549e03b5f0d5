import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeConsent } from '../cli/privacy/consent.ts';
import { MEMORY_VARIABLES } from '../cli/setup/variables.ts';
import { makeCapture, startSeededService, withFolder } from './process.ts';
import type { Row } from './report.ts';

const FILES = { claude: 3000, codex: 1200, qwen: 800 };
const APPENDS = Number(process.env.BENCH_APPENDS ?? 200);
const REST_SECONDS = Number(process.env.BENCH_REST_SECONDS ?? 60);

/** A daemon over 5,000 transcripts: its cost while idle, and the time until a record is in the service's store. */
export async function benchDaemon(): Promise<Row[]> {
  return withFolder(async (folder) => {
    const files = layOut(folder);
    writeConsent({ home: folder, variables: { CAPTURE_HOME: join(folder, 'capture') } }, { since: 0, history: 'all' });
    const service = await startSeededService(folder);
    const store = new DatabaseSync(join(service.dataDir, 'session-capture.sqlite'), { readOnly: true });
    const completed = store.prepare("SELECT count(*) AS n FROM sessions WHERE status = 'completed'");
    const countCompleted = () => Number(completed.get()?.n);
    const countEvents = () => Number(store.prepare('SELECT coalesce(sum(event_count), 0) AS n FROM sessions').get()?.n);
    const program = await makeCapture(folder);
    const run = (flags: string[] = []) => startDaemon(folder, [...flags, program], service);

    const first = run();
    // The catch-up also completes old sessions after sending their events.
    await untilStill(() => countEvents() + countCompleted());
    const afterCatchUp = memoryOf(first.pid ?? 0);
    await stop(first);
    const daemon = run();
    await sleep(40_000);
    const rest = await measureRest(daemon);
    const hinted = await measureLatency(files, countEvents);
    await stop(daemon);
    const blind = run(['--import', NO_WATCH]);
    await sleep(10_000);
    const unhinted = await measureLatency(files, countEvents);
    await stop(blind);

    await service.stop();
    store.close();
    const from = program.endsWith('.ts') ? 'from source, including the type stripper' : 'bundled';
    return [
      { what: 'daemon at rest, processor', figure: rest.cpu * 100, unit: '%', goal: '≤ 0.1', detail: rest.detail },
      ...memoryRows('daemon at rest', rest.memory, from),
      ...memoryRows('daemon after a first catch-up', afterCatchUp, from),
      latencyRow('record to acknowledged, p95', hinted),
      latencyRow('the same without notices of changes', unhinted),
    ];
  });
}

/** Simulates a system without notices of file changes. */
const NO_WATCH = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.watch = () => { throw Object.assign(new Error('no watches left'), { code: 'ENOSPC' }); };
  syncBuiltinESMExports();`)}`;

/** Writes transcripts of three agents. @returns the paths of Claude Code's */
function layOut(folder: string): string[] {
  const write = (path: string, lines: object[]) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return path;
  };
  const claude = Array.from({ length: FILES.claude }, (_, n) => {
    const path = join(folder, '.claude/projects', `-home-dev-${n % 60}`, `${uuid(n)}.jsonl`);
    return write(
      path,
      Array.from({ length: 5 }, (_, id) => record(n, id)),
    );
  });
  for (let n = 0; n < FILES.codex; n++) {
    const day = `2026/${pad((n % 10) + 1)}/${pad((n % 28) + 1)}`;
    const meta = { id: uuid(n), timestamp: at(n, 0), cwd: '/home/dev', originator: 'codex', cli_version: '0.60.0' };
    const path = join(folder, '.codex/sessions', day, `rollout-2026-01-01T00-00-00-${uuid(n)}.jsonl`);
    write(path, [{ timestamp: at(n, 0), type: 'session_meta', payload: meta }]);
  }
  for (let n = 0; n < FILES.qwen; n++) {
    const path = join(folder, '.qwen/projects', `-home-dev-${n % 40}`, 'chats', `${uuid(n)}.jsonl`);
    write(path, [record(n, 0)]);
  }
  return claude;
}

const pad = (number: number) => String(number).padStart(2, '0');
const uuid = (n: number, id = 0) =>
  `${n.toString(16).padStart(8, '0')}-0000-4000-8000-${id.toString(16).padStart(12, '0')}`;
const at = (n: number, id: number) => new Date(Date.parse('2026-01-01') + n * 60_000 + id * 1000).toISOString();
const record = (n: number, id: number) => ({
  type: 'user',
  uuid: uuid(n, id + 1),
  parentUuid: id === 0 ? null : uuid(n, id),
  sessionId: uuid(n),
  timestamp: at(n, id),
  message: { role: 'user', content: `prompt ${id} ${'text '.repeat(40)}` },
});

/** Starts the daemon as `capture init` does. */
function startDaemon(
  folder: string,
  program: string[],
  { url, secret }: { url: string; secret: string },
): ChildProcess {
  return spawn(process.execPath, [...program, 'run', '--quiet'], {
    env: {
      ...MEMORY_VARIABLES,
      PATH: process.env.PATH ?? '',
      HOME: folder,
      CAPTURE_HOME: join(folder, 'capture'),
      CAPTURE_URL: url,
      CAPTURE_SECRET: secret,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Waits until the count stays the same for ten seconds. */
async function untilStill(count: () => number): Promise<void> {
  for (let last = -1, still = 0; still < 10; await sleep(1000)) {
    const now = count();
    still = now > 0 && now === last ? still + 1 : 0;
    last = now;
  }
}

async function measureRest({ pid = 0 }: ChildProcess) {
  const before = cpuTicks(pid);
  await sleep(REST_SECONDS * 1000);
  const ticks = cpuTicks(pid) - before;
  const detail = `${ticks} ticks of 10 ms in ${REST_SECONDS} s, over 5,000 transcripts`;
  return { cpu: ticks / 100 / REST_SECONDS, memory: memoryOf(pid), detail };
}

let written = 100;

/** Appends to eight sessions at random intervals, one after the other. @returns the milliseconds until each arrived */
async function measureLatency(files: string[], countEvents: () => number): Promise<number[]> {
  const latencies: number[] = [];
  for (let n = 0; n < APPENDS; n++) {
    const session = n % 8;
    const before = countEvents();
    const started = performance.now();
    appendFileSync(files[session] ?? '', `${JSON.stringify(record(session, ++written))}\n`);
    while (countEvents() <= before) await sleep(4);
    latencies.push(performance.now() - started);
    await sleep(20 + Math.random() * 400);
  }
  return latencies.sort((one, other) => one - other);
}

function latencyRow(what: string, sorted: number[]): Row {
  const quantile = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  const detail = `ms: p50 ${quantile(0.5)}, p95 ${quantile(0.95)}, longest ${quantile(1)}; ${sorted.length} appends to 8 sessions`;
  return { what, figure: quantile(0.95) / 1000, unit: 's', goal: '≤ 1', detail };
}

/** Processor time in ticks of 1/100 s, from Linux's accounting. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

interface Memory {
  resident: number;
  /** Without memory shared with other processes, such as Node's program file. */
  private: number;
}

/** The memory of a process in megabytes. */
function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1000;
  return { resident: of('Rss'), private: of('Private_Clean') + of('Private_Dirty') };
}

const memoryRows = (what: string, memory: Memory, from: string): Row[] => [
  { what: `${what}, memory`, figure: memory.resident, unit: 'MB', goal: '≤ 80', detail: `resident, ${from}` },
  { what: `${what}, private memory`, figure: memory.private, unit: 'MB', goal: '≤ 40', detail: `private, ${from}` },
];
