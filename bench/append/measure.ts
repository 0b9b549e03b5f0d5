import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../server/public-url.ts';
import { startIssuer } from '../../test/issuer.ts';
import { cpuByKind, startMeasured, type Where } from '../process.ts';
import { seed, seedSessions } from '../seed.ts';
import type { Measured, Task } from './generator.ts';

const GENERATOR = fileURLToPath(new URL('./generator.ts', import.meta.url));
/** Concurrent connections, each of which appends to its own session. */
export const CONNECTIONS = 16;

export interface Load {
  batchSize: number;
  /** Whether the events are of all kinds; otherwise each is a message of 1 KiB of prose. */
  isMixed?: boolean;
  encoding: 'plain' | 'zstd';
  seconds: number;
  /** Appends a second; by default as many as the service answers. */
  rate?: number;
}

export interface Rate {
  /** Acknowledged appends a second. */
  rate: number;
  /** Bytes of an append before its compression, on average. */
  bytes: number;
  /** Processor time in µs an append: of the service, of its deriving thread (a part of the former), and of the generator. */
  service: number;
  deriving: number;
  generator: number;
  /** Processor time of the event bus and PostgreSQL, if there are any. */
  engine: number;
  /** Time of an append, in ms. */
  p50: number;
  p99: number;
}

/** Loads a new service, or a baseline program, with authenticated appends that have idempotency keys. */
export async function loadService(
  where: Where,
  load: Load,
  env: Record<string, string> = {},
  program?: string,
): Promise<Rate> {
  const issuer = await startIssuer();
  // Several services may share one store.
  const owner = `owner-${randomUUID()}`;
  const seeded = await seed(where, issuer.url, owner, async (store, made) => ({
    sessions: await seedSessions(store, made, CONNECTIONS),
  }));
  const flags = process.env.BENCH_NODE_FLAGS?.split(' ').filter(Boolean);
  const operations = await freePort('127.0.0.1');
  const ports = { OPERATIONS_PORT: String(operations) };
  const service = await startMeasured(where, { ...issuer.env, ...ports, ...env }, { program, flags });
  try {
    const { port } = service;
    const task: Task = { port, secret: seeded.secret, sessions: seeded.sessions, ...load };
    const spent = () => ({
      service: service.cpuSeconds(),
      deriving: service.derivingSeconds(),
      engine: engineSeconds(),
    });
    const { requests, seconds, bytes, cpu, used, p50, p99 } = await generate(task, spent, () =>
      program === undefined ? settled(operations) : Promise.resolve(),
    );
    const perAppend = (spentSeconds: number) => (spentSeconds / requests) * 1e6;
    const times = { service: perAppend(used.service), deriving: perAppend(used.deriving), generator: cpu };
    return { rate: requests / seconds, bytes, ...times, engine: perAppend(used.engine), p50, p99 };
  } finally {
    await service.stop();
    issuer.close();
  }
}

function engineSeconds(): number {
  const times = cpuByKind();
  return (times['nats-server'] ?? 0) + (times.postgres ?? 0);
}

interface Spent {
  service: number;
  deriving: number;
  engine: number;
}

/** Waits until every session is derived, so that the cost of deriving counts for the right measurement. */
export async function settled(operations: number, askMs = 150): Promise<void> {
  for (let calm = 0; calm < 2; await wait(askMs)) {
    const text = await (await fetch(`http://127.0.0.1:${operations}/metrics`)).text();
    const waiting = /^capture_derive_waiting (\d+)/m.exec(text)?.[1] ?? '0';
    calm = waiting === '0' ? calm + 1 : 0;
  }
}

/** Runs the generator, and measures the processor time from the first measured append until the last one is derived. */
async function generate(
  task: Task,
  spent: () => Spent,
  isSettled: () => Promise<void>,
): Promise<Measured & { used: Spent }> {
  const child = spawn(process.execPath, [GENERATOR, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let before = spent();
  let measured: (Measured & { used: Spent }) | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'warm') {
      await isSettled();
      before = spent();
      child.stdin.end('go');
    } else {
      await isSettled();
      const { service, deriving, engine } = spent();
      const used = {
        service: service - before.service,
        deriving: deriving - before.deriving,
        engine: engine - before.engine,
      };
      measured = { ...(JSON.parse(line) as Measured), used };
    }
  }
  const [code] = await ended;
  if (!measured) throw new Error(`the load generator ended with ${code}`);
  return measured;
}
