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
export const takeLock = (folder: string, name: string): Lock | undefined => take(folder, name, 'BEGIN EXCLUSIVE');

/** Takes a lock that any number may share; undefined while one process holds it alone. */
export const takeShare = (folder: string, name: string): Lock | undefined =>
  take(folder, name, 'BEGIN; SELECT * FROM sqlite_master');

function take(folder: string, name: string, sql: string): Lock | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(join(folder, `${name}.lock`), { timeout: 0 });
  try {
    db.exec(sql);
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
