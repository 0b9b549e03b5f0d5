import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whom hooks ask for: the process id of the running daemon. One that is left behind by a crash does no harm. */
export const pidPath = (folder: string): string => join(folder, 'daemon.pid');

export function writePid(folder: string, pid: number): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${pidPath(folder)}.new`;
  writeFileSync(temporary, `${pid}\n`, { mode: 0o600 });
  renameSync(temporary, pidPath(folder));
}

/** Leaves that of another daemon alone. */
export function removePid(folder: string, pid: number): void {
  try {
    if (readFileSync(pidPath(folder), 'utf8').trim() === String(pid)) rmSync(pidPath(folder));
  } catch {
    // Gone already.
  }
}
