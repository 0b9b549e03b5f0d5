import { beginningOf, lineageOf } from '../decide/lineage.ts';
import { closedAtReading, closedPeriodsOf, type RecordTimes, type Why, whyStays } from '../decide/periods.ts';
import type { Policy } from '../privacy/policy.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';

/** Says for the records of a transcript that was read why the reader may have left them out. Undefined if it has not. */
export function whyKeptBack(
  { sessions, decisions }: Pick<Spool, 'sessions' | 'decisions'>,
  policy: Pick<Policy, 'find'>,
  row: FileRow,
): (record: RecordTimes) => Why | undefined {
  const find = (session: string) => policy.find(row.agent, session);
  const present = closedPeriodsOf(lineageOf(beginningOf(row, find), find), {
    consent: decisions.consent(),
    pauses: decisions.pauses(),
    expiredUntil: (session) => sessions.expiredUntil(row.agent, session),
  });
  const closed = closedAtReading(present, row.leftBefore);
  const { startedAt } = row;
  // Nothing shows at which look a record without a time was read, so the widest possible range counts.
  const never = Number.POSITIVE_INFINITY;
  const file = { startedAt, modifiedAt: never, isFollowed: false, writtenTo: () => never };
  return (record) => whyStays(record, file, closed);
}
