import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeService } from '../script/release/service.ts';
import type { Options } from './options.ts';
import { type RunningService, residentMemory, startService, withFolder } from './process.ts';
import { median, quantile, type Row } from './report.ts';
import { seed, seedEvents, seedSessions } from './seed.ts';
import { createEvents } from './text.ts';

const STARTS = 10;
const IDLE_MS = 5_000;
const REQUESTS = 100;

interface Way {
  name: string;
  program: string;
  startMs: number[];
  startCpuMs: number[];
  idle: number[];
  used: number[];
}

/** How long the service takes to start on an embedded store with sessions in it, and what it holds when nobody asks. */
export function benchService({ rounds }: Options): Promise<Row[]> {
  return withFolder(async (folder) => {
    const built = join(folder, 'built');
    await makeService(built);
    const dataDir = join(folder, 'data');
    const { secret, sessions } = await seed({ dataDir }, 'bench', 'owner', async (store, made) => {
      const sessions = await seedSessions(store, made, 100);
      for (const session of sessions) await seedEvents(store, made, session, 100, createEvents(9));
      return { sessions };
    });
    const ways: Way[] = [
      way('as `script/start` builds it', join(built, 'main.cjs')),
      way('from source', fileURLToPath(new URL('../server/main.ts', import.meta.url))),
    ];
    // The first of each finds its files on the disk, the others in memory.
    for (let run = -1; run < STARTS; run++) for (const way of ways) await measureStart(way, dataDir, run >= 0);
    for (let run = 0; run < rounds; run++)
      for (const way of ways) await measureMemory(way, dataDir, (service) => use(service, secret, sessions));
    return ways.flatMap(toRows);
  });
}

const way = (name: string, program: string): Way => ({
  name,
  program,
  startMs: [],
  startCpuMs: [],
  idle: [],
  used: [],
});

/** Until the line that says it is ready, with the embedded identity provider as delivered. */
async function measureStart({ program, startMs, startCpuMs }: Way, dataDir: string, counts: boolean): Promise<void> {
  const started = performance.now();
  const service = await startService({ dataDir }, {}, program);
  const took = performance.now() - started;
  const cpu = service.cpuSeconds() * 1000;
  // It keeps its compiled code when it ends by itself.
  await settle(service);
  await service.stop();
  if (!counts) return;
  startMs.push(took);
  startCpuMs.push(cpu);
}

/** The line that it is ready is not the last that it does. */
async function settle({ url }: RunningService): Promise<void> {
  await sleep(200);
  await (await fetch(`${url}/health`)).text();
}

async function measureMemory(
  { program, idle, used }: Way,
  dataDir: string,
  work: (service: RunningService) => Promise<void>,
): Promise<void> {
  const service = await startService({ dataDir }, {}, program);
  const pid = service.child.pid ?? 0;
  await sleep(IDLE_MS);
  idle.push(residentMemory(pid));
  await work(service);
  await sleep(IDLE_MS);
  used.push(residentMemory(pid));
  await service.stop();
}

/** What an agent's machine and a glance at the dashboard ask for. */
async function use({ url }: RunningService, secret: string, sessions: readonly string[]): Promise<void> {
  const makeEvent = createEvents(2);
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  for (let n = 0; n < REQUESTS; n++) {
    const body = JSON.stringify({ events: Array.from({ length: 10 }, () => makeEvent(1024)) });
    const append = () => fetch(`${url}/v1/sessions/${sessions[n]}/events`, { method: 'POST', headers, body });
    const reply = n % 4 === 3 ? await fetch(`${url}/config`) : await append();
    if (!reply.ok) throw new Error(`${reply.url} answered ${reply.status}: ${await reply.text()}`);
    await reply.arrayBuffer();
  }
}

function toRows({ name, startMs, startCpuMs, idle, used }: Way): Row[] {
  const cpu = Math.round(median(startCpuMs));
  const memory = (what: string, figures: readonly number[]): Row => ({
    what: `service ${what}, ${name}`,
    figure: median(figures),
    unit: 'MB',
    goal: '≤ 100',
    detail: `resident, embedded store; ${figures.length} runs`,
  });
  return [
    {
      what: `service starts, ${name}`,
      figure: median(startMs) / 1000,
      unit: 's',
      goal: '≤ 0.5',
      detail: `to the line that it is ready; p95 ${(quantile(startMs, 0.95) / 1000).toFixed(2)} s of ${STARTS}; CPU ${cpu} ms`,
    },
    memory('idle for 5 s', idle),
    memory(`5 s after ${REQUESTS} requests`, used),
  ];
}
