import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeService } from '../script/release/service.ts';
import { MIN_APART_MS } from '../server/memory.ts';
import { startIssuer } from '../test/issuer.ts';
import { SOURCE } from '../test/service.ts';
import type { Options } from './options.ts';
import {
  type MeasuredService,
  measureFamily,
  peakMemory,
  residentMemory,
  startMeasured,
  withFolder,
} from './process.ts';
import { median, quantile, type Row } from './report.ts';
import { seed, seedEvents, seedSessions } from './seed.ts';
import { createEvents } from './text.ts';

const SESSIONS = 100;
const STARTS = 10;
const IDLE_MS = 10_000;
const REQUESTS = 100;
/** The settings of `script/start` and the image. */
const SETTINGS = { NODE_OPTIONS: '--max-semi-space-size=4', MALLOC_ARENA_MAX: '2' };
const SOAK = { streams: 8, searchers: 3, pauseMs: 500 };

interface Way {
  name: string;
  program: string;
  startMs: number[];
  startCpuMs: number[];
  /** MB at each moment, in order. */
  memory: Record<string, { resident: number[]; proportional?: number[] }>;
}

/**
 * Measures the start of the service on an embedded store with sessions, and its memory: after deriving them, idle, after 100 requests, and after a
 * soak of twelve times `seconds`; as `script/start` builds it and from source.
 */
export function benchService({ seconds, rounds }: Options): Promise<Row[]> {
  return withFolder(async (folder) => {
    const built = join(folder, 'built');
    await makeService(built);
    const dataDir = join(folder, 'data');
    const issuer = await startIssuer();
    const { secret, sessions } = await seed({ dataDir }, issuer.url, 'owner', async (store, made) => {
      const sessions = await seedSessions(store, made, SESSIONS);
      for (const session of sessions) await seedEvents(store, made, session, 100, createEvents(9));
      return { sessions };
    });
    const asBuilt = way('as `script/start` builds it', join(built, 'main.cjs'));
    const ways: Way[] = [asBuilt, way('from source', SOURCE)];
    // The first start derives all sessions. Without it, a later measurement of an idle service would include this work.
    const deriving = await startMeasured({ dataDir }, SETTINGS, asBuilt);
    await untilReturned(deriving);
    note(asBuilt, `at rest after deriving ${SESSIONS} sessions`, deriving);
    await deriving.stop();
    // The first start of each way reads its files from the disk, later ones from memory, so it does not count.
    for (let run = -1; run < STARTS; run++) for (const way of ways) await measureStart(way, dataDir, run >= 0);
    const people = { secret, sessions, token: await issuer.token('owner', 'owner@example.com') };
    for (let run = 0; run < rounds; run++) {
      for (const way of ways) {
        const service = await startMeasured({ dataDir }, SETTINGS, way);
        await measureMemory(way, service, people);
        await service.stop();
      }
    }
    const service = await startMeasured({ dataDir }, { ...SETTINGS, ...issuer.env }, asBuilt);
    await measureSoak(asBuilt, service, people, seconds * 12_000);
    await service.stop();
    issuer.close();
    return ways.flatMap(toRows);
  });
}

const way = (name: string, program: string): Way => ({
  name,
  program,
  startMs: [],
  startCpuMs: [],
  memory: {},
});

/** Measures until the line that the service is ready, with the default embedded identity provider. */
async function measureStart({ program, startMs, startCpuMs }: Way, dataDir: string, counts: boolean): Promise<void> {
  const started = performance.now();
  const service = await startMeasured({ dataDir }, SETTINGS, { program });
  const took = performance.now() - started;
  const cpu = service.cpuSeconds() * 1000;
  // Node stores the compiled code when the process ends by itself.
  await settle(service);
  await service.stop();
  if (!counts) return;
  startMs.push(took);
  startCpuMs.push(cpu);
}

/** Waits for the service's work after the line that it is ready. */
async function settle({ url }: MeasuredService): Promise<void> {
  await sleep(200);
  await (await fetch(`${url}/health`)).text();
}

interface People {
  /** Secret of a machine. */
  secret: string;
  /** Token of a member. */
  token: string;
  sessions: readonly string[];
}

async function measureMemory(way: Way, service: MeasuredService, people: People): Promise<void> {
  await untilReturned(service);
  note(way, 'idle', service);
  await use(service, people);
  note(way, `at once after ${REQUESTS} requests`, service);
  await sleep(IDLE_MS);
  note(way, `10 s after ${REQUESTS} requests`, service);
  await untilReturned(service);
  note(way, `at rest after ${REQUESTS} requests`, service);
}

/** Appends, searches and reads pages concurrently, with pauses, which uses a part of a processor. */
async function measureSoak(way: Way, service: MeasuredService, people: People, ms: number): Promise<void> {
  const until = performance.now() + ms;
  const repeat = async (work: (n: number) => Promise<Response>) => {
    for (let n = 0; performance.now() < until; n++) {
      const reply = await work(n);
      if (!reply.ok) throw new Error(`${reply.url} answered ${reply.status}: ${await reply.text()}`);
      await reply.arrayBuffer();
      await sleep(SOAK.pauseMs);
    }
  };
  const headers = { authorization: `Bearer ${people.token}` };
  const mine = `${service.url}/v1/organizations/me`;
  const appending = Array.from({ length: SOAK.streams }, (_, stream) => {
    const makeEvent = createEvents(20 + stream);
    return repeat((n) => append(service, people, stream + SOAK.streams * (n % 10), makeEvent));
  });
  const searching = Array.from({ length: SOAK.searchers }, () =>
    repeat((n) => fetch(`${mine}/search?q=${WORDS[n % WORDS.length]}`, { headers })),
  );
  const paging = repeat((n) => fetch(`${mine}/sessions/${people.sessions[n % SESSIONS]}/events`, { headers }));
  await Promise.all([...appending, ...searching, paging]);
  note(way, 'at the end of the soak', service);
  way.memory['most in the soak'] = { resident: [peakMemory(service.pid)] };
  await untilReturned(service);
  note(way, 'at rest after the soak', service);
}

const WORDS = ['license', 'module', 'function', 'return', 'version'];

/** Waits until the service has used hardly any processor time for `IDLE_MS`, since deriving continues after the answers. */
async function untilRest({ cpuSeconds }: MeasuredService): Promise<void> {
  for (let before = Number.NEGATIVE_INFINITY; cpuSeconds() - before > 0.05; ) {
    before = cpuSeconds();
    await sleep(IDLE_MS);
  }
}

/** Waits until the service has also ended its idle threads and returned the memory of its last work. */
async function untilReturned(service: MeasuredService): Promise<void> {
  await sleep(MIN_APART_MS);
  await untilRest(service);
}

function note({ memory }: Way, moment: string, { pid }: MeasuredService): void {
  memory[moment] ??= { resident: [], proportional: [] };
  memory[moment].resident.push(residentMemory(pid));
  memory[moment].proportional?.push(measureFamily(pid).memory);
}

/** Sends the requests of an agent's machine and of a glance at the dashboard. */
async function use(service: MeasuredService, people: People): Promise<void> {
  const makeEvent = createEvents(2);
  for (let n = 0; n < REQUESTS; n++) {
    const reply = n % 4 === 3 ? await fetch(`${service.url}/config`) : await append(service, people, n, makeEvent);
    if (!reply.ok) throw new Error(`${reply.url} answered ${reply.status}: ${await reply.text()}`);
    await reply.arrayBuffer();
  }
}

function append(
  { url }: MeasuredService,
  { secret, sessions }: People,
  session: number,
  makeEvent: ReturnType<typeof createEvents>,
): Promise<Response> {
  return fetch(`${url}/v1/sessions/${sessions[session]}/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ events: Array.from({ length: 10 }, () => makeEvent(1024)) }),
  });
}

/** Goals in MB. */
const GOALS: Record<string, number> = {
  idle: 100,
  [`at rest after deriving ${SESSIONS} sessions`]: 125,
  [`10 s after ${REQUESTS} requests`]: 120,
  'at the end of the soak': 220,
};

function toRows({ name, startMs, startCpuMs, memory }: Way): Row[] {
  const cpu = Math.round(median(startCpuMs));
  return [
    {
      what: `service starts, ${name}`,
      figure: median(startMs) / 1000,
      unit: 's',
      goal: '≤ 0.5',
      detail: `to the line that it is ready; p95 ${(quantile(startMs, 0.95) / 1000).toFixed(2)} s of ${STARTS}; CPU ${cpu} ms`,
    },
    ...Object.entries(memory).map(([moment, { resident, proportional }]) => ({
      what: `service ${moment}, ${name}`,
      figure: median(resident),
      unit: 'MB',
      goal: moment in GOALS ? `≤ ${GOALS[moment]}` : '–',
      detail: `resident, embedded store; ${proportional ? `proportional ${Math.round(median(proportional))} MB; ` : ''}${resident.length} runs`,
    })),
  ];
}
