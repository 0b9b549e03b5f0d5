import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { createDatabase } from '../../bench/postgres.ts';
import type { Where } from '../../bench/process.ts';
import { PEPPER } from '../../bench/seed.ts';
import { freePort } from '../../server/public-url.ts';
import { startNatsCluster } from '../../test/nats.ts';
import { startServer } from '../../test/postgres.ts';
import { type Running, startProcess } from '../../test/process.ts';
import { SOURCE } from '../../test/service.ts';

const PROXY = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url));

/** A process, or a server with several processes. */
export interface Part {
  /** Kills it without warning. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Asks it to end with SIGTERM. @returns its exit code, or the signal that ended it */
  ask?(): Promise<number | string | undefined>;
}

export interface Topology {
  /** Address of the proxy. */
  url: string;
  databaseUrl: string;
  parts: Record<'api-1' | 'api-2' | 'worker-1' | 'worker-2' | 'nats-1' | 'nats-2' | 'nats-3' | 'postgres', Part>;
  /** Metrics of a process. */
  figures(name: 'api-1' | 'api-2' | 'worker-1' | 'worker-2'): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the parts of `deploy/compose.yaml` as processes of this machine. `issuer` has the service's options for the issuer. */
export async function startTopology<Seeded>(
  issuer: Record<string, string>,
  fill: (where: Where) => Promise<Seeded>,
): Promise<Topology & { seeded: Seeded }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'capture-scale-'));
  const [postgres, nats] = [await startServer(), await startNatsCluster()];
  const databaseUrl = await createDatabase(postgres.url);
  const busUrl = nats.map(({ url }) => url).join(',');
  await untilLed(busUrl);
  const seeded = await fill({ databaseUrl, dataDir });
  const env = {
    ...{ DATABASE_URL: databaseUrl, BUS_URL: busUrl, DATA_DIR: dataDir, SECRET_PEPPER: PEPPER, LOG_LEVEL: 'silent' },
    ...{ DRAIN_SECONDS: '2', RATE_LIMIT_SECRET: '0', RATE_LIMIT_ADDRESS: '0', TRUST_PROXY: '127.0.0.1', ...issuer },
  };
  const names = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
  const ports = await Promise.all([...names, 'proxy'].flatMap(() => [freePort('127.0.0.1'), freePort('127.0.0.1')]));
  const operations = (index: number) => String(ports[index * 2 + 1]);
  const services = names.map((name, index) =>
    program([process.execPath, SOURCE], {
      ...env,
      ROLE: name.startsWith('api') ? 'api' : 'worker',
      PORT: String(ports[index * 2]),
      OPERATIONS_PORT: operations(index),
    }),
  ) as [Program, Program, Program, Program];
  for (const { start } of services) await start();
  const url = `http://127.0.0.1:${ports[8]}`;
  const proxy = program(['haproxy', '-db', '-f', PROXY], {
    LISTEN: `127.0.0.1:${ports[8]}`,
    ...{ API_1: `127.0.0.1:${ports[0]}`, API_1_OPERATIONS: operations(0) },
    ...{ API_2: `127.0.0.1:${ports[2]}`, API_2_OPERATIONS: operations(1) },
  });
  await proxy.start(async () => (await fetch(`${url}/health`).catch(() => undefined))?.status === 200);
  const [api1, api2, worker1, worker2] = services;
  const [nats1, nats2, nats3] = nats;
  if (!nats1 || !nats2 || !nats3) throw new Error('the cluster has fewer than three servers');
  return {
    ...{ url, databaseUrl, seeded },
    parts: {
      ...{ 'api-1': api1, 'api-2': api2, 'worker-1': worker1, 'worker-2': worker2 },
      ...{ 'nats-1': nats1, 'nats-2': nats2, 'nats-3': nats3 },
      postgres: { kill: postgres.kill, start: () => patiently(postgres.start) },
    },
    figures: async (name) => (await fetch(`http://127.0.0.1:${operations(names.indexOf(name))}/metrics`)).text(),
    async stop() {
      await Promise.all([proxy, ...services].map(({ kill }) => kill()));
      await Promise.all(nats.map(({ dispose }) => dispose()));
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

interface Program extends Required<Omit<Part, 'start'>> {
  /** Resolves once the program's output or `isReady` says that it is ready. */
  start(isReady?: () => Promise<boolean>): Promise<void>;
}

function program(command: readonly string[], env: Record<string, string>): Program {
  let running: Running | undefined;
  process.once('exit', () => running?.signal('SIGKILL'));
  const end = async (signal: NodeJS.Signals) => {
    const ending = running;
    running = undefined;
    return ending?.end(signal);
  };
  return {
    async start(isReady) {
      running = startProcess(command, { env });
      if (!isReady) return void (await running.until(/ is ready/));
      const ended = running.ended.then((how) => {
        throw new Error(`${command[0]} ended with ${how}:\n${running?.output()}`);
      });
      ended.catch(() => undefined);
      while (!(await Promise.race([isReady(), ended]))) await pause(50);
    },
    kill: async () => void (await end('SIGKILL')),
    ask: () => end('SIGTERM'),
  };
}

/** Waits until the cluster has a leader, since it accepts streams only then. */
const untilLed = (url: string) =>
  patiently(async () => {
    const connection = await connect({ servers: url.split(',').map((one) => new URL(one).host) });
    await jetstreamManager(connection).finally(() => connection.close());
  });

/** Retries, since processes of a killed PostgreSQL end a moment later and block a new one. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 50) throw error;
      await pause(200);
    }
  }
}
