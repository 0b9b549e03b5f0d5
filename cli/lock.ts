import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface Lock {
  release(): void;
}

/**
 * Takes a lock that the system gives back when its holder ends, however it ends. A file with a process id in it would
 * outlive a killed process. Undefined while another process holds it.
 */
export function takeLock(folder: string, name: string): Lock | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(join(folder, `${name}.lock`), { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    // 5: SQLITE_BUSY
    if ((error as { errcode?: number }).errcode === 5) return undefined;
    throw error;
  }
  return { release: () => db.close() };
}

export function isLocked(folder: string, name: string): boolean {
  if (!existsSync(join(folder, `${name}.lock`))) return false;
  const lock = takeLock(folder, name);
  lock?.release();
  return lock === undefined;
}
