import { Held } from '../log/outcome.ts';
import { listUnchanged, type Opened } from '../store/retention.ts';
import type { Db } from '../store/schema.ts';
import type { SessionLog } from './session-log.ts';

const DAY_MS = 86_400_000;
/** Sessions in a query. */
const AT_ONCE = 100;

export interface Retention {
  db: Db;
  sessionLog: Pick<SessionLog, 'expire'>;
  /** How long a session is kept after its last event. */
  days: number;
  now: () => number;
  signal: AbortSignal;
}

/**
 * Deletes the sessions whose time is over, as a person would; that another process does the same is no fault.
 * @throws what kept one of them from being deleted, after all others were
 */
export async function deleteExpired({ db, sessionLog, days, now, signal }: Retention): Promise<void> {
  const before = now() - days * DAY_MS;
  let failure: { error: unknown } | undefined;
  let after: Opened | undefined;
  do {
    const expired = await listUnchanged(db, before, after, AT_ONCE);
    for (const { createdAt: _, ...session } of expired) {
      if (signal.aborted) return;
      await sessionLog.expire(session).catch((error: unknown) => {
        // The hold was placed after the list was read.
        if (!(error instanceof Held)) failure = { error };
      });
    }
    after = expired.length < AT_ONCE ? undefined : expired.at(-1);
  } while (after !== undefined);
  if (failure) throw failure.error;
}
