import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from './failure.ts';

interface FileOptions {
  mode: number;
  /** Absent: the person who runs the program. */
  owner?: { uid: number; gid: number } | undefined;
}

/**
 * Puts bytes in a file's place in one step: a reader finds the old file or the new one, also after a power failure. Two
 * programs that write the same file do not meet, because each writes to a name of its own first.
 */
export function writeAtomically(path: string, bytes: string | Uint8Array, { mode, owner }: FileOptions): void {
  const temporary = join(dirname(path), `.session-capture-${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true });
    if (owner) keepOwner(temporary, owner);
    chmodSync(temporary, mode);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Only root may give files away; for others the owner is the same, or cannot be kept. */
function keepOwner(file: string, { uid, gid }: { uid: number; gid: number }): void {
  try {
    chownSync(file, uid, gid);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
  }
}
