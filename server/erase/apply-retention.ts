import type { RetentionBounds, RetentionField } from '../../contract/retention.ts';
import { Failures } from '../failures.ts';
import { assertReadable } from '../store/events.ts';
import type { Db, SessionRow } from '../store/schema.ts';
import { expireContent } from './content-expiry.ts';
import { type Due, type DueSession, endOfSlice, listDue, listRuled, type Ruled, type Slice } from './due-sessions.ts';
import type { WithoutContent } from './kept-rows.ts';
import type { SessionEnds } from './session-ends.ts';

/** How many organizations one query reads. */
const AT_ONCE = 100;
/** How many old sessions one query examines. It takes about 5 ms, even if rules for repositories keep all of them. */
const LOOKED_AT_ONCE = 2_000;

export interface Retention {
  db: Db;
  sessionLog: Pick<SessionEnds, 'expire' | 'abandon'>;
  bounds: RetentionBounds;
  /** The version of the rules that derive sessions. */
  version: number;
  withoutContent: WithoutContent;
  /** Called for each session whose content was removed. */
  onContentGone: (row: SessionRow) => void;
  now: () => number;
  signal: AbortSignal;
}

/**
 * Deletes expired sessions in the same way as a person does, and removes the content of sessions whose content expired.
 * Another process may do the same at the same time.
 * @throws what failed, after all other sessions were tried
 */
export async function applyRetention(retention: Retention): Promise<void> {
  const { db, signal } = retention;
  const failures = new Failures();
  let after = '';
  for (let some = await listRuled(db, after, AT_ONCE); some.length > 0; some = await listRuled(db, after, AT_ONCE)) {
    for (const one of some) {
      if (signal.aborted) return;
      await failures.try(() => applyField(retention, one, 'factsDays', failures));
      await failures.try(() => applyField(retention, one, 'contentDays', failures));
    }
    after = (some.at(-1) as Ruled).organizationId;
  }
  failures.throw();
}

async function applyField(
  retention: Retention,
  { organizationId, rules }: Ruled,
  field: RetentionField,
  failures: Failures,
) {
  const { db, bounds, signal, now } = retention;
  const due: Due = { organizationId, rules, bounds, field, now: now() };
  let slice: Slice = {};
  do {
    slice = { after: slice.through, through: await endOfSlice(db, due, slice.through, LOOKED_AT_ONCE) };
    for (const session of await listDue(db, due, slice)) {
      if (signal.aborted) return;
      await failures.try(() => (field === 'factsDays' ? expire : loseContent)(retention, session));
    }
  } while (slice.through !== undefined && !signal.aborted);
}

async function expire({ sessionLog }: Retention, { organizationId, sessionId, eventCount }: DueSession): Promise<void> {
  await sessionLog.expire({ organizationId, sessionId, eventCount });
}

/** Closes an open session first, because no event may follow removed content. The next run then removes the content. */
async function loseContent(retention: Retention, session: DueSession): Promise<void> {
  const { db, sessionLog, bounds, now, version, withoutContent, onContentGone } = retention;
  const { organizationId, sessionId, eventCount, updatedAt } = session;
  if (session.status === 'active') return sessionLog.abandon({ organizationId, sessionId, eventCount, updatedAt });
  await assertReadable(db, session);
  const row = await expireContent(db, session, { due: { bounds, now: now() }, version, withoutContent });
  if (row) onContentGone(row);
}
