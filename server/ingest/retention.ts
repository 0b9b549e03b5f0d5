import type { Db } from '../store/open.ts';
import { listUnchanged } from '../store/retention.ts';
import type { SessionLog } from './session-log.ts';

const DAY_MS = 86_400_000;
/** Sessions that are asked for at a time. */
const AT_ONCE = 100;

export interface Retention {
  db: Db;
  sessionLog: SessionLog;
  /** How long a session is kept after its last event. */
  days: number;
  now: () => number;
  signal: AbortSignal;
}

/** Deletes the sessions whose time is over, as a person would; that another process does the same is no fault. */
export async function deleteExpired({ db, sessionLog, days, now, signal }: Retention): Promise<void> {
  for (let isLast = false; !isLast; ) {
    const expired = await listUnchanged(db, now() - days * DAY_MS, AT_ONCE);
    isLast = expired.length < AT_ONCE;
    for (const named of expired) {
      if (signal.aborted) return;
      await sessionLog.delete(named);
    }
  }
}
