import { createRedactor } from '../../../redact/redactor.ts';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { SessionKey } from '../../log/decide.ts';
import { decodeFrame } from '../../log/frame.ts';
import { Joiner, type ReadEvent } from '../../log/join.ts';
import { readAppends } from '../../store/events.ts';
import type { Db, SessionRow } from '../../store/schema.ts';
import { TEXT_COLUMNS } from '../../store/session-columns.ts';
import { findHoldOf } from '../holds.ts';
import { listSearched } from './searched-sessions.ts';

/** What the current rules would mask in a stored session. */
export interface SweepFinding extends SessionKey {
  /** How many events have findings. The descriptive fields of the session count as one more event. */
  events: number;
  /** How many places each rule found. */
  rules: Readonly<Record<string, number>>;
  /** The hold that prevents masking, if any. */
  holdId: string | undefined;
  /** How many events the session has. */
  eventCount: number;
}

export interface SweepReport {
  sessions: number;
  findings: number;
}

/** How many sessions one query lists. */
const AT_ONCE = 200;

/**
 * Searches all stored events for text that the current rules would mask, and changes nothing. Sessions come in the order of
 * their ids, so that a sweep can continue where an earlier one stopped. The marks of machines are trusted, as on the machines.
 * @param after the id of the last session of an earlier sweep; empty: starts with the first session
 * @param tell called for each session with findings
 */
export async function sweepSessions(
  db: Db,
  after: string,
  tell: (finding: SweepFinding) => void | Promise<void>,
): Promise<SweepReport> {
  const report: SweepReport = { sessions: 0, findings: 0 };
  for (let last: string | undefined = after; last !== undefined; ) {
    const sessions: SessionRow[] = await listSearched(db, last, AT_ONCE);
    for (const session of sessions) {
      report.sessions++;
      const { events, rules } = await sweepSession(db, session);
      if (events === 0) continue;
      report.findings++;
      const place = { organizationId: session.organization_id, sessionId: session.session_id };
      await tell({ ...place, events, rules, holdId: await findHoldOf(db, place), eventCount: session.event_count });
    }
    last = sessions.length < AT_ONCE ? undefined : sessions.at(-1)?.session_id;
  }
  return report;
}

async function sweepSession(db: Db, session: SessionRow): Promise<Pick<SweepFinding, 'events' | 'rules'>> {
  const { organization_id, session_id, event_count } = session;
  const redactor = createRedactor({ trustsMarks: true });
  const rules: Record<string, number> = {};
  let events = 0;
  const look = (eventType: string, payload: unknown) => {
    if (typeof payload !== 'object' || payload === null) return;
    // The counts of the machine are left out, because they count text that is masked already.
    const { redactions: _, ...fields } = payload as Record<string, unknown>;
    const [masked] = redactor.redact([{ eventType, payload: fields } as unknown as CapturedEvent], {
      session: session_id,
    });
    const counts = Object.entries(masked?.payload.redactions ?? {});
    if (counts.length > 0) events++;
    for (const [rule, count] of counts) rules[rule] = (rules[rule] ?? 0) + count;
  };
  look('session.meta', Object.fromEntries(TEXT_COLUMNS.map((name) => [name, session[name]])));
  const joiner = new Joiner();
  for await (const append of readAppends(db, organization_id, session_id, 1, event_count)) {
    const read = decodeFrame(append).map(
      ({ eventType, payload }, index): ReadEvent => ({
        sequence: append.first_sequence + index,
        eventType,
        createdAt: append.created_at,
        bytes: payload.byteLength,
        payload: JSON.parse(Buffer.from(payload).toString('utf8')),
      }),
    );
    for (const event of read.flatMap((one) => joiner.add(one))) look(event.eventType, event.payload);
  }
  for (const event of joiner.end()) look(event.eventType, event.payload);
  return { events, rules };
}
