import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Where } from '../bench/process.ts';
import { PEPPER, seed } from '../bench/seed.ts';
import { ROOT } from '../script/release/bundle.ts';
import { makeService } from '../script/release/service.ts';
import { startIssuer } from '../test/issuer.ts';
import { type Service, startService, UNLIMITED } from '../test/service.ts';
import type { Trouble, Wire } from '../test/wire.ts';
import type { Clock } from './clock.ts';
import type { Disk } from './disk.ts';
import type { Fault } from './rounds.ts';

/** Program files of the service, built as `script/start` builds them. */
export interface Releases {
  current: string;
  /** The following release. It runs on PostgreSQL only. */
  next: string;
}

/** Builds the service and seeds an empty store with an organization, a secret, a machine with an agent, and an owner. */
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
      // The same settings as in `script/start`.
      NODE_OPTIONS: '--max-semi-space-size=4',
      MALLOC_ARENA_MAX: '2',
      ...issuer.env,
      SECRET_PEPPER: PEPPER,
      // The service deletes expired sessions when it starts.
      RETENTION_DAYS: '1',
      LOG_LEVEL: 'silent',
      ...UNLIMITED,
    },
  };
}

/** The program that a process of the service runs. */
interface Release {
  program: string;
  variables?: Record<string, string>;
}

/** A process of the service that can be killed, restarted and replaced by another release. */
export interface Supervised {
  url(): string;
  kill(): Promise<void>;
  /**
   * Ends the process with SIGTERM and starts it again, as a deployment does.
   * @param release the release to run from now on; by default the same one
   * @param meanwhile called while no process runs
   */
  restart(release?: Release, meanwhile?: () => void): Promise<void>;
  /** Resolves with the exit code once the process has ended. */
  ended(): Promise<number | string>;
  /** The output of the latest process. */
  output(): string;
  /** Starts the process unless it runs. */
  start(): Promise<void>;
}

export async function supervise(
  program: string,
  dataDir: string,
  variables: Record<string, string>,
): Promise<Supervised> {
  let running: Service | undefined;
  let last: Service | undefined;
  let current: Release = { program };

  /** Retries if the process ends before it is ready: on a busy machine the store may be too slow for it. */
  async function start(tries = 5): Promise<void> {
    if (running) return;
    try {
      const started = await startService(dataDir, { ...variables, ...current.variables }, current);
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
      // Exit code 1: some work did not end in time, which may happen on a busy machine.
      if (code !== 0 && code !== 1) {
        throw new Error(`the service exited with ${code} after SIGTERM: ${last?.output()}`);
      }
      current = release;
      meanwhile();
      await start();
    },
    ended: async () => last?.ended ?? 'it did not start',
    output: () => last?.output() ?? '',
    start: () => start(),
  };
}

/** Kills a process, and starts it again to repair it. */
export const killed = (process: Supervised): Fault => ({ break: process.kill, mend: process.start });

/** Replaces a process by the next release, which changes the schema under the other processes, and then by this release again. */
export function upgraded(process: Supervised, { current, next }: Releases): Fault {
  const name = randomBytes(4).toString('hex');
  let releases = 0;
  return {
    break: () => process.restart({ program: next, variables: { NEXT_VERSION: `${name}_${releases++}` } }),
    mend: () => process.restart({ program: current }),
  };
}

/** Faults of the wire to a part. */
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

/** `open` and `close` start and end the programs that use the disk. */
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
        // PostgreSQL ends when its log runs out of space.
        await close();
        await open();
      },
      isShortage: true,
    },
    [`disk ${whose} slow`]: { break: () => disk.order('delay'), mend: () => disk.order('sync') },
  };
}

/** Steps the clock an hour back or two hours ahead, in turn. */
export function clockFaults(clock: Clock | undefined): Record<string, Fault> {
  if (!clock) return {};
  let turn = 0;
  return { 'clock stepped': { break: () => clock.step(turn++ % 2 === 0 ? -3_600 : 7_200), mend: () => clock.step(0) } };
}
