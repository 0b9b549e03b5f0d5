import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWire } from '../../test/wire.ts';
import { createClock } from '../clock.ts';
import { startDatabase } from '../database.ts';
import { clockFaults, killed, settleIn, supervise, upgraded, wireFaults } from '../install.ts';
import type { Installation } from '../rounds.ts';

/** Two replicas that reach PostgreSQL through a wire. */
export async function installPostgres(): Promise<Installation> {
  const database = await startDatabase();
  const clock = createClock();
  const dataDir = mkdtempSync(join(tmpdir(), 'capture-faults-'));
  const { secret, machine, token, releases, variables, close } = await settleIn({ dataDir, databaseUrl: database.url });
  const wire = await startWire(database.port);
  const far = new URL(database.url);
  far.port = String(wire.port);
  const given = { ...variables, DATABASE_URL: far.href };
  const replicas = [
    await supervise(releases.current, dataDir, given),
    // Only this replica uses the clock that steps.
    await supervise(releases.current, dataDir, { ...given, ...clock?.variables }),
  ] as const;
  return {
    countRows: database.countRows,
    async expire(sessions) {
      await database.age(sessions);
      await replicas[0].restart();
    },
    ...{ secret, machine, token, urls: () => replicas.map((replica) => replica.url()), writers: 24 },
    faults: {
      'replica killed': killed(replicas[0]),
      'replica asked to end': { break: () => replicas[1].restart(), mend: () => undefined },
      'replica upgraded': upgraded(replicas[0], releases),
      ...wireFaults('PostgreSQL', wire),
      ...database.faults,
      ...clockFaults(clock),
    },
    async stop() {
      for (const replica of replicas) await replica.kill();
      await wire.cut().catch(() => undefined);
      close();
      await database.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
