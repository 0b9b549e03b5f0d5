import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startWire } from '../../test/wire.ts';
import { createClock, together } from '../clock.ts';
import { AGE_BY_TEN_DAYS } from '../database.ts';
import { createDisk, type Disk } from '../disk.ts';
import { clockFaults, diskFaults, killed, settleIn, supervise, wireFaults } from '../install.ts';
import type { Installation } from '../rounds.ts';

const DISK_MB = 4_000;

function countRows(path: string, session: string): number {
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    const count = (table: string) =>
      Number(file.prepare(`SELECT count(*) AS count FROM ${table} WHERE session_id = ?`).get(session)?.count);
    return count('sessions') + count('appends');
  } finally {
    file.close();
  }
}

/** Call this only while the service does not run: no other process may write its store. */
function age(path: string, sessions: readonly string[]): void {
  const file = new DatabaseSync(path);
  try {
    const update = file.prepare(AGE_BY_TEN_DAYS.replace('$1', '?'));
    for (const session of sessions) update.run(session);
  } finally {
    file.close();
  }
}

/** EX_SOFTWARE: the service no longer trusts the store. */
const STORE_LOST = 70;

/**
 * One process with the embedded store, on a separate disk if possible.
 * @param alterAsked changes the bytes of requests
 */
export async function installSqlite(alterAsked?: (asked: Buffer) => Buffer): Promise<Installation & { disk?: Disk }> {
  const disk = createDisk(DISK_MB);
  const clock = createClock();
  const folder = mkdtempSync(join(tmpdir(), 'capture-faults-'));
  const dataDir = join(disk?.path ?? folder, 'data');
  const { secret, machine, token, releases, variables, close } = await settleIn({ dataDir });
  const service = await supervise(releases.current, dataDir, {
    ...variables,
    ...together(clock?.variables, disk?.variables),
  });
  const wire = await startWire(() => Number(new URL(service.url()).port), undefined, alterAsked);
  const path = join(dataDir, 'session-capture.sqlite');
  const url = `http://127.0.0.1:${wire.port}`;
  return {
    expire: (sessions) => service.restart(undefined, () => age(path, sessions)),
    countRows: async (session) => countRows(path, session),
    ...{ secret, machine, token, urls: () => [url], writers: 8, ...(disk && { disk }) },
    faults: {
      'service killed': killed(service),
      'service asked to end': { break: () => service.restart(), mend: () => undefined },
      ...wireFaults('the service', wire),
      ...diskFaults(disk, service.start, service.kill, 'of the service'),
      ...clockFaults(clock),
      ...(disk && {
        'sync failed': {
          break: () => disk.order('fail'),
          async mend() {
            const code = await service.ended();
            disk.order('sync');
            if (code !== STORE_LOST) {
              throw new Error(`the service exited with ${code} after a failed sync: ${service.output()}`);
            }
            await service.start();
          },
        },
      }),
    },
    async stop() {
      await service.kill();
      await wire.cut().catch(() => undefined);
      close();
      await disk?.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
