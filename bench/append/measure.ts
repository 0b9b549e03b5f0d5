import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startIssuer } from '../issuer.ts';
import { cpuByKind, startService, type Where } from '../process.ts';
import { seed, seedSessions } from '../seed.ts';
import type { Measured, Task } from './generator.ts';

const GENERATOR = fileURLToPath(new URL('./generator.ts', import.meta.url));
/** Connections that append at once, each to a session of its own. */
export const CONNECTIONS = 16;

export interface Load {
  batchSize: number;
  encoding: 'plain' | 'zstd';
  seconds: number;
}

export interface Rate {
  /** Appends a second that were acknowledged. */
  rate: number;
  /** Processor time in µs an append: of the service, and of the generator. */
  service: number;
  generator: number;
  /** Of the event bus, where there is one. */
  bus: number;
}

/** Loads a fresh service, or what is to be compared with it, with authenticated appends, each with an idempotency key. */
export async function loadService(
  where: Where,
  load: Load,
  env: Record<string, string> = {},
  program?: string,
): Promise<Rate> {
  const issuer = await startIssuer();
  // Several services may have one store.
  const owner = `owner-${randomUUID()}`;
  const seeded = await seed(where, issuer.url, owner, async (store, made) => ({
    sessions: await seedSessions(store, made, CONNECTIONS),
  }));
  const flags = { NODE_FLAGS: process.env.BENCH_NODE_FLAGS ?? '' };
  const service = await startService(where, { ...issuer.env, ...flags, ...env }, program);
  try {
    const { port } = service;
    const warmSeconds = Math.min(1, load.seconds);
    const task: Task = { port, secret: seeded.secret, sessions: seeded.sessions, warmSeconds, ...load };
    const [started, busBefore] = [service.cpuSeconds(), busSeconds()];
    const measured = await generate(task, service.cpuSeconds);
    const { requests, seconds, cpu, serviceSeconds } = measured;
    // The bus has worked for the first second as well, in the same way as the service.
    const share = serviceSeconds / (service.cpuSeconds() - started);
    const perAppend = (spent: number) => (spent / requests) * 1e6;
    const bus = perAppend((busSeconds() - busBefore) * share);
    return { rate: requests / seconds, service: perAppend(serviceSeconds), generator: cpu, bus };
  } finally {
    await service.stop();
    issuer.close();
  }
}

const busSeconds = () => cpuByKind()['nats-server'] ?? 0;

async function generate(task: Task, cpuSeconds: () => number): Promise<Measured & { serviceSeconds: number }> {
  const child = spawn(process.execPath, [GENERATOR, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let before = 0;
  let measured: Measured | undefined;
  let serviceSeconds = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'measuring') before = cpuSeconds();
    else {
      serviceSeconds = cpuSeconds() - before;
      measured = JSON.parse(line) as Measured;
    }
  }
  const [code] = await ended;
  if (!measured) throw new Error(`the load generator ended with ${code}`);
  return { ...measured, serviceSeconds };
}
