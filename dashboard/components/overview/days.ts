import type { SessionSummary } from '../../../contract/review.ts';
import type { Session } from '../../../contract/session.ts';

/** What was captured on a day, in the reader's own time zone. */
export interface Day {
  /** Midnight at its start. */
  start: number;
  sessions: number;
  toolCalls: number;
  failures: number;
  tokens: number;
}

export const DAYS = 14;

/** The last days, the latest at the end; days without sessions are there too. */
export function sumByDay(
  sessions: readonly Session[],
  summaries: ReadonlyMap<string, SessionSummary>,
  now: number,
): Day[] {
  const days = Array.from({ length: DAYS }, (_, index) => emptyDay(now, DAYS - 1 - index));
  for (const { sessionId, startedAt } of sessions) {
    const started = Date.parse(startedAt);
    const day = days.findLast(({ start }) => started >= start);
    if (!day) continue;
    const summary = summaries.get(sessionId);
    day.sessions++;
    day.toolCalls += summary?.toolCalls ?? 0;
    day.failures += summary?.failures ?? 0;
    day.tokens += (summary?.inputTokens ?? 0) + (summary?.outputTokens ?? 0);
  }
  return days;
}

function emptyDay(now: number, ago: number): Day {
  const date = new Date(now);
  // By the calendar: a day may have 23 or 25 hours.
  const start = new Date(date.getFullYear(), date.getMonth(), date.getDate() - ago).getTime();
  return { start, sessions: 0, toolCalls: 0, failures: 0, tokens: 0 };
}
