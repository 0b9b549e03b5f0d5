import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/** The folder for files that tests leave behind. It is removed at the end of the run. */
export default function makeTemporaryFolder({ config }: TestProject): () => void {
  const { TMPDIR = '' } = config.env;
  mkdirSync(TMPDIR, { recursive: true });
  return () => {
    for (const disk of mountedBelow(TMPDIR)) execFileSync('umount', ['-l', disk]);
    rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** The mounted disks of tests that ran out of time and therefore did not unmount them. */
function mountedBelow(folder: string): string[] {
  if (!existsSync('/proc/mounts')) return [];
  const places = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return places.filter((place) => place.startsWith(`${folder}/`));
}
