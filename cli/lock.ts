import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface Lock {
  /** Whether the lock's file was deleted. Then another process may have the same lock. */
  isLost(): boolean;
  release(): void;
}

/**
 * Takes a lock that the system releases when its process ends in any way. A file with a process id would outlive a killed
 * process, and would look valid when another program gets that id. Undefined while another process has the lock.
 */
export const takeLock = (folder: string, name: string): Lock | undefined => lockFile(folder, name, 'BEGIN EXCLUSIVE');

/** Takes a lock that any number of processes may share. Undefined while one process has it alone. */
export const takeShare = (folder: string, name: string): Lock | undefined =>
  lockFile(folder, name, 'BEGIN; SELECT * FROM sqlite_master');

function lockFile(folder: string, name: string, sql: string): Lock | undefined {
  const path = join(folder, `${name}.lock`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Only the owner can read the file: any reader could share the lock, and so keep everybody from taking it alone.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec(sql);
  } catch (error) {
    db.close();
    // 5: SQLITE_BUSY
    if ((error as { errcode?: number }).errcode === 5) return undefined;
    throw error;
  }
  const inode = inodeOf(path);
  return { isLost: () => inodeOf(path) !== inode, release: () => db.close() };
}

const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;

export function isLocked(folder: string, name: string): boolean {
  if (!existsSync(join(folder, `${name}.lock`))) return false;
  const lock = takeLock(folder, name);
  lock?.release();
  return lock === undefined;
}
