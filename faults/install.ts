import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startIssuer } from '../bench/issuer.ts';
import type { Where } from '../bench/process.ts';
import { PEPPER, seed } from '../bench/seed.ts';
import { ROOT } from '../script/release/bundle.ts';
import { makeService } from '../script/release/service.ts';
import { type ServiceProcess, startProcess } from '../server/test/process.ts';
import type { Trouble, Wire } from '../server/test/wire.ts';
import type { Clock } from './clock.ts';
import type { Disk } from './disk.ts';
import type { Fault } from './rounds.ts';

/** Programs of the service, built as `script/start` builds it. */
export interface Releases {
  current: string;
  /** One release later. It runs on PostgreSQL only. */
  next: string;
}

/** An organization in an empty store, with a secret, a machine with an agent, and a person who reads; and the built service. */
export async function settleIn(where: Where) {
  const folder = mkdtempSync(join(ROOT, 'artefacts/faults-service-'));
  const [current, next] = [join(folder, 'current'), join(folder, 'next')];
  await makeService(current);
  if (where.databaseUrl !== undefined) await makeService(next, 'faults/next-version.ts');
  const issuer = await startIssuer();
  const { secret, environmentId, installationId } = await seed(where, issuer.url, 'owner', async () => ({}));
  return {
    secret,
    machine: { environmentId, agentInstallationId: installationId },
    token: () => issuer.token('owner', 'owner@example.com'),
    releases: { current: join(current, 'main.cjs'), next: join(next, 'main.cjs') },
    close() {
      issuer.close();
      rmSync(folder, { recursive: true, force: true });
    },
    variables: {
      // As `script/start` has it.
      NODE_OPTIONS: '--max-semi-space-size=4',
      MALLOC_ARENA_MAX: '2',
      ...issuer.env,
      SECRET_PEPPER: PEPPER,
      // A service looks for what has expired when it starts.
      RETENTION_DAYS: '1',
      LOG_LEVEL: 'silent',
      RATE_LIMIT_SECRET: '0',
      RATE_LIMIT_USER: '0',
      RATE_LIMIT_ADDRESS: '0',
    },
  };
}

/** What a process of the service runs. */
interface Release {
  program: string;
  variables?: Record<string, string>;
}

/** A process of the service that is started again whenever it has ended. */
export interface Supervised {
  url(): string;
  kill(): Promise<void>;
  /**
   * As a deployment does.
   * @param release that runs from now on; absent: the same
   * @param meanwhile called while no process runs
   */
  restart(release?: Release, meanwhile?: () => void): Promise<void>;
  /** Once it has ended: its exit code. */
  ended(): Promise<number | string>;
  /** Unless it runs. */
  start(): Promise<void>;
}

export async function supervise(
  program: string,
  dataDir: string,
  variables: Record<string, string>,
): Promise<Supervised> {
  let running: ServiceProcess | undefined;
  let last: ServiceProcess | undefined;
  let current: Release = { program };

  /** Again where it ends before it is ready: on a busy machine the store may be too slow for it. */
  async function start(tries = 5): Promise<void> {
    if (running) return;
    try {
      const started = await startProcess(dataDir, { ...variables, ...current.variables }, current.program);
      running = started;
      last = started;
      void started.ended.then(() => {
        if (running === started) running = undefined;
      });
    } catch (error) {
      if (tries === 0) throw error;
      await start(tries - 1);
    }
  }

  await start();
  return {
    url: () => last?.url ?? '',
    async kill() {
      await running?.end('SIGKILL');
      running = undefined;
    },
    async restart(release = current, meanwhile = () => undefined) {
      const code = await running?.end('SIGTERM');
      running = undefined;
      // 1: something did not end in time, as it may on a busy machine.
      if (code !== 0 && code !== 1) throw new Error(`a service that was asked to end ended with ${code}`);
      current = release;
      meanwhile();
      await start();
    },
    ended: async () => last?.ended ?? 'it did not start',
    start: () => start(),
  };
}

/** Killed without warning, and started again after a moment. */
export const killed = (process: Supervised): Fault => ({ break: process.kill, mend: process.start });

/** Replaced by the next release, which changes the schema under the others, and taken back to this one. */
export function upgraded(process: Supervised, { current, next }: Releases): Fault {
  const name = randomBytes(4).toString('hex');
  let releases = 0;
  return {
    break: () => process.restart({ program: next, variables: { NEXT_VERSION: `${name}_${releases++}` } }),
    mend: () => process.restart({ program: current }),
  };
}

/** What may be the matter with the wire to something. */
export function wireFaults(what: string, wire: Wire): Record<string, Fault> {
  const trouble = (kind: Trouble): Fault => ({
    break: () => wire.trouble(kind),
    mend: () => wire.trouble('none'),
  });
  return {
    [`connections to ${what} cut`]: { break: wire.cut, mend: wire.mend },
    [`answers of ${what} lost`]: trouble('answers lost'),
    [`${what} slow`]: trouble('slow'),
    [`connections to ${what} half open`]: trouble('silent'),
  };
}

/** `open` and `close` start and end those who use the disk. */
export function diskFaults(
  disk: Disk | undefined,
  open: () => Promise<void>,
  close: () => Promise<void>,
  whose: string,
): Record<string, Fault> {
  if (!disk) return {};
  return {
    [`power ${whose} cut`]: {
      break: disk.cut,
      async mend() {
        await close();
        await disk.restore();
        await open();
      },
    },
    [`disk ${whose} full`]: {
      break: disk.fill,
      async mend() {
        disk.free();
        // PostgreSQL ends where its log finds no room.
        await close();
        await open();
      },
      isShortage: true,
    },
    [`disk ${whose} slow`]: { break: () => disk.order('delay'), mend: () => disk.order('sync') },
  };
}

/** An hour behind, or two ahead, in turn. */
export function clockFaults(clock: Clock | undefined): Record<string, Fault> {
  if (!clock) return {};
  let turn = 0;
  return { 'clock stepped': { break: () => clock.step(turn++ % 2 === 0 ? -3_600 : 7_200), mend: () => clock.step(0) } };
}
