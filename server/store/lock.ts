import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Reserves the data folder for this process until the returned function is called or the process ends. The lock is
 * SQLite's exclusive file lock, which the system releases with the process, so none is ever left behind.
 * @throws Error when another process has the folder
 */
export function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'lock.sqlite'));
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw new Error(
      `another process already uses the data folder ${folder}; stop it, or set DATA_DIR to another folder`,
      {
        cause: error,
      },
    );
  }
  return () => lock.close();
}
