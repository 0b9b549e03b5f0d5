import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** A sync takes milliseconds. A disk that hangs does not answer either. */
const DEADLINE_MS = 5_000;

/**
 * Whether the disk of a folder carries out a write. A read of the store proves nothing, because the system may have the bytes in
 * memory. Besides, closing the file would drop SQLite's locks of this process. So the folder gets a new time, and that is synced.
 */
export const diskAnswers = (folder: string): Promise<boolean> =>
  Promise.race([writes(folder), pause(DEADLINE_MS, false, { ref: false })]);

async function writes(folder: string): Promise<boolean> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    const now = new Date();
    // A reader may lack the right to change the folder. The sync alone still finds most disks that are gone.
    await handle.utimes(now, now).catch(() => undefined);
    await handle.sync();
    return true;
  } catch {
    return false;
  } finally {
    await handle?.close().catch(() => undefined);
  }
}
