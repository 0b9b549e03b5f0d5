import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAtomically } from '../atomic-file.ts';
import type { Context } from '../context.ts';
import { codeOf, EXIT, Failure } from '../failure.ts';
import { isLocked, type Lock, takeLock } from '../lock.ts';
import { VERSION } from '../version.ts';

/** The running daemon, as its file describes it. */
export interface RunningDaemon {
  pid: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  version: string;
}

const LOCK = 'run';
const END_MS = 15_000;
const LOOK_MS = 50;

/** The file in which the running daemon writes its process id, its start time and its version, one per line. */
export const pidPath = (folder: string): string => join(folder, 'daemon.pid');

/**
 * Whether a daemon uses this folder for its state. The daemon's lock shows this, and the lock ends with its process. The
 * check takes the lock for a moment, so it only runs if the folder has a daemon's process id.
 */
export const isDaemonRunning = (folder: string): boolean => existsSync(pidPath(folder)) && isLocked(folder, LOCK);

/** Undefined if no daemon runs. A file that a killed daemon left behind is ignored. */
export const findDaemon = (folder: string): RunningDaemon | undefined =>
  isDaemonRunning(folder) ? readDaemon(folder) : undefined;

function readDaemon(folder: string): RunningDaemon | undefined {
  try {
    const [pid = '', since = '', version = ''] = readFileSync(pidPath(folder), 'utf8').split('\n');
    return /^\d+$/.test(pid) ? { pid: Number(pid), startedAt: Date.parse(since), version } : undefined;
  } catch {
    // The daemon has taken the lock but has not written the file yet.
    return undefined;
  }
}

/** Makes this process the daemon of the folder, and writes the file. Throws a `Failure` while there is another daemon. */
export async function becomeDaemon(folder: string, { pid, now }: Pick<Context, 'pid' | 'now'>): Promise<Lock> {
  let lock = takeLock(folder, LOCK);
  for (let attempts = 0; lock === undefined && attempts < 5; attempts++) {
    // Another process may have the lock for a moment, just to check it.
    await sleep(LOOK_MS);
    lock = takeLock(folder, LOCK);
  }
  if (lock === undefined) {
    const other = readDaemon(folder);
    throw new Failure(
      EXIT.failure,
      `\`capture run\` is running already${other ? `, as process ${other.pid}` : ''}.`,
      'See `capture status`. `capture stop` ends it, and `capture restart` restarts it.',
    );
  }
  const path = pidPath(folder);
  writeAtomically(path, `${pid}\n${new Date(now()).toISOString()}\n${VERSION}\n`, { mode: 0o600 });
  return {
    isLost: lock.isLost,
    release(): void {
      // If the folder was made anew, the file belongs to another daemon.
      if (!lock.isLost()) rmSync(path, { force: true });
      lock.release();
    },
  };
}

/**
 * Asks the daemon of the folder to end, and waits until it has. Supervisors do not restart a daemon that ended this way.
 * Returns false if none ran. Throws a `Failure` if it cannot be asked or does not end.
 */
export async function stopDaemon(folder: string): Promise<boolean> {
  if (!isDaemonRunning(folder)) return false;
  const pid = findDaemon(folder)?.pid;
  try {
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
  } catch (error) {
    const hint = 'Run this as the user who started it.';
    if (codeOf(error) !== 'ESRCH')
      throw new Failure(EXIT.failure, `You are not allowed to end process ${pid}.`, hint, error);
  }
  for (let waited = 0; waited < END_MS; waited += LOOK_MS) {
    if (!isDaemonRunning(folder)) return true;
    await sleep(LOOK_MS);
  }
  throw new Failure(
    EXIT.failure,
    `The daemon${pid === undefined ? '' : ` (process ${pid})`} has not ended within ${END_MS / 1000} seconds.`,
    pid === undefined ? 'See `capture status`.' : `End it with \`kill -9 ${pid}\`: nothing is lost.`,
  );
}
