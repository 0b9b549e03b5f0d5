import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';

/** Its title, or else its first prompt. */
export const titleOf = (session: Session, summary: SessionSummary | undefined): string =>
  session.title ?? summary?.firstPrompt ?? 'Untitled session';

/** When it ended, as far as is known. */
export function endOf(session: Session, summary: SessionSummary | undefined, now: number): number {
  if (session.endedAt) return Date.parse(session.endedAt);
  const last = summary?.lastEventAt ? Date.parse(summary.lastEventAt) : Number.NaN;
  return Number.isNaN(last) ? now : Math.max(last, Date.parse(session.startedAt));
}
