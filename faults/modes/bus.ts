import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failures } from '../../server/failures.ts';
import { startWire } from '../../test/wire.ts';
import { createClock } from '../clock.ts';
import { startBus } from '../cluster.ts';
import { startDatabase } from '../database.ts';
import { clockFaults, killed, settleIn, supervise, upgraded, wireFaults } from '../install.ts';
import type { Installation } from '../rounds.ts';

/** Two replicas and two workers on a bus of three nodes, and PostgreSQL. */
export async function installBus(random: () => number): Promise<Installation> {
  const database = await startDatabase();
  const bus = await startBus(random);
  const clock = createClock();
  const dataDir = mkdtempSync(join(tmpdir(), 'capture-faults-'));
  const { secret, machine, token, releases, variables, close } = await settleIn({ dataDir, databaseUrl: database.url });
  const wire = await startWire(database.port);
  const far = new URL(database.url);
  far.port = String(wire.port);
  const given = { ...variables, DATABASE_URL: far.href, BUS_URL: bus.url };
  const start = (ROLE: 'api' | 'worker', more = {}) =>
    supervise(releases.current, dataDir, { ...given, ROLE, ...more });
  const replicas = [await start('api'), await start('api', clock?.variables)] as const;
  const workers = [await start('worker'), await start('worker', clock?.variables)] as const;
  return {
    countRows: database.countRows,
    async expire(sessions) {
      await database.age(sessions);
      await workers[1].restart();
    },
    ...{ secret, machine, token, urls: () => replicas.map((replica) => replica.url()), writers: 12 },
    faults: {
      'replica killed': killed(replicas[0]),
      'replica asked to end': { break: () => replicas[1].restart(), mend: () => undefined },
      'replica upgraded': upgraded(replicas[0], releases),
      'worker killed': killed(workers[0]),
      'worker upgraded': upgraded(workers[0], releases),
      'all workers killed': {
        break: async () => void (await Promise.all(workers.map((worker) => worker.kill()))),
        mend: async () => void (await Promise.all(workers.map((worker) => worker.start()))),
      },
      ...bus.faults,
      ...wireFaults('the bus', bus.wire),
      ...wireFaults('PostgreSQL', wire),
      // With a bus, appends do not need free space on PostgreSQL's disk, so a full disk is no shortage.
      ...Object.fromEntries(
        Object.entries(database.faults).map(([kind, { break: begin, mend }]) => [kind, { break: begin, mend }]),
      ),
      ...clockFaults(clock),
    },
    async stop() {
      for (const one of [...replicas, ...workers]) await one.kill();
      await wire.cut().catch(() => undefined);
      close();
      const failures = new Failures();
      await failures.try(() => bus.stop());
      await failures.try(() => database.stop());
      failures.throw();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
