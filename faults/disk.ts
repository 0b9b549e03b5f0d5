import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type DiskOrder, orderDisk } from '../server/test/failing-disk.ts';

/** A separate disk that can lose power, fill up and fail to sync. */
export interface Disk {
  path: string;
  /** Environment of the programs whose syncs `order` controls. */
  variables: Record<string, string>;
  order(kind: DiskOrder): void;
  /** Cuts the power: unsynced data is gone, and writes fail. The caller must then end the programs that use the disk. */
  cut(): void;
  /** Restores the power and replays the file system's journal. No program may be using the disk. */
  restore(): Promise<void>;
  /** Uses up all free space. */
  fill(): void;
  free(): void;
  dispose(): Promise<void>;
}

/** ext4's own switch for tests: it shuts down at once without writing its journal (EXT4_IOC_SHUTDOWN, NOLOGFLUSH). */
const CUT = `
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
int main(int count, char **words) {
  uint32_t flag = 2;
  return ioctl(open(words[1], O_RDONLY), _IOR('X', 125, uint32_t), &flag) != 0;
}
`;

/** Undefined if no disk can be made: that needs root, a loop device, ext4's tools and a C compiler. */
export function createDisk(megabytes: number): Disk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'capture-disk-'));
  // Databases do not run as root.
  chmodSync(folder, 0o755);
  const [image, path, cutter] = ['image', 'disk', 'cut'].map((name) => join(folder, name)) as [string, string, string];
  const run = (program: string, ...words: string[]) => void execFileSync(program, words, { stdio: 'ignore' });
  const mount = () => run('mount', '-o', 'loop', image, path);
  const syncs = orderDisk(folder);
  try {
    if (!syncs) throw new Error('there is no C compiler');
    writeFileSync(`${cutter}.c`, CUT);
    run('cc', '-o', cutter, `${cutter}.c`);
    run('truncate', '-s', `${megabytes}M`, image);
    // Reserve no blocks for root, so that a full disk is full for every user.
    run('mkfs.ext4', '-q', '-F', '-b', '4096', '-m', '0', image);
    mkdirSync(path);
    mount();
    chmodSync(path, 0o777);
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  const filler = join(path, 'filler');

  async function unmount(): Promise<void> {
    // Children of a killed process may take a moment to end.
    for (let tries = 0; ; tries++) {
      try {
        return run('umount', path);
      } catch (error) {
        if (tries === 600) throw new Error(`${path} is still in use`, { cause: error });
        await pause(50);
      }
    }
  }

  return {
    path,
    variables: syncs.variables,
    order: syncs.order,
    cut: () => run(cutter, path),
    async restore() {
      await unmount();
      mount();
    },
    fill() {
      // Other programs may take some of the space meanwhile.
      for (let spare = 64 * 1024; ; spare *= 2) {
        const { bavail, bsize } = statfsSync(path);
        try {
          return run('fallocate', '-l', String(bavail * bsize - spare), filler);
        } catch {
          rmSync(filler, { force: true });
        }
      }
    },
    free: () => existsSync(filler) && rmSync(filler),
    async dispose() {
      await unmount();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
