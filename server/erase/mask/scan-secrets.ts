import { randomBytes } from 'node:crypto';
import { SERVICE } from '../../idle-worker.ts';
import type { SessionKey } from '../../log/decide.ts';
import type { Db, SessionRow } from '../../store/schema.ts';
import { findHoldOf } from '../holds.ts';
import { countInSlices, inOneGo } from './count.ts';
import { MaskThread } from './mask-thread.ts';
import { listSearched } from './searched-sessions.ts';

/** What the current rules would mask in a stored session. */
export interface SecretsFound extends SessionKey {
  /** How many events have findings. The descriptive fields of the session count as one more event. */
  events: number;
  /** How many places each rule found. */
  rules: Readonly<Record<string, number>>;
  /** The hold that prevents masking, if any. */
  holdId: string | undefined;
  /** How many events the session has. */
  eventCount: number;
}

export interface ScanReport {
  sessions: number;
  findings: number;
}

/** How many sessions one query lists. */
const AT_ONCE = 200;
/** Makes the marks, which nobody sees. */
const KEY = randomBytes(32);

/**
 * Counts in all stored sessions what a mask by the current rules would mask, and changes nothing. Sessions come in the order of
 * their ids, so that a scan can continue where an earlier one stopped. The marks of machines are trusted, as on the machines.
 * @param after the id of the last session of an earlier scan; empty: starts with the first session
 * @param tell called for each session with findings
 */
export async function scanSecrets(
  db: Db,
  after: string,
  tell: (found: SecretsFound) => void | Promise<void>,
): Promise<ScanReport> {
  const report: ScanReport = { sessions: 0, findings: 0 };
  const thread = new MaskThread();
  try {
    for (let last: string | undefined = after; last !== undefined; ) {
      const sessions: SessionRow[] = await listSearched(db, last, AT_ONCE);
      for (const session of sessions) {
        report.sessions++;
        const place = { organizationId: session.organization_id, sessionId: session.session_id };
        const asker = { group: place.organizationId, person: SERVICE, signal: undefined };
        const masker = await thread.begin({ kind: 'rules', key: KEY, sessionId: place.sessionId }, asker);
        const { events, fields, rules } = await inOneGo(countInSlices(db, session, masker));
        if (events + fields === 0) continue;
        report.findings++;
        const holdId = await findHoldOf(db, place);
        await tell({ ...place, events: events + Math.min(fields, 1), rules, holdId, eventCount: session.event_count });
      }
      last = sessions.length < AT_ONCE ? undefined : sessions.at(-1)?.session_id;
    }
  } finally {
    await thread.close();
  }
  return report;
}
