import type { LiveChange } from '../../contract/extensions.ts';
import type { SessionRow } from '../app/queries.ts';

/** The row after the change; nothing if its session was deleted. */
export function changeRow<Row extends Pick<SessionRow, 'session'>>(
  row: Row,
  { status, eventCount }: LiveChange,
  now: number,
): Row | [] {
  if (status === 'deleted') return [];
  const { session } = row;
  const ends = status !== 'active' && session.endedAt === undefined;
  return {
    ...row,
    session: {
      ...session,
      status,
      eventCount: Math.max(eventCount, session.eventCount),
      ...(ends && { endedAt: new Date(now).toISOString() }),
    },
  };
}
