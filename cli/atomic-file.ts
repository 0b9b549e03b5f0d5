import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from './failure.ts';

interface FileOptions {
  mode: number;
  /** Defaults to the person who runs the program. */
  owner?: { uid: number; gid: number } | undefined;
}

/**
 * Replaces a file's content in one step. A reader finds the old file or the new one, even after a power failure. Two programs
 * may write the same file, because each writes to its own temporary name first.
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

/** Only root may give files away. For others, the owner is the same or cannot be kept. */
function keepOwner(file: string, { uid, gid }: { uid: number; gid: number }): void {
  try {
    chownSync(file, uid, gid);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
  }
}
