import { saysNothing } from '../../contract/entry/value.ts';
import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { showHidden } from '../kit/text/controls.ts';

export const UNTITLED = 'Untitled session';
/** Its title may stand in events that are stored and not derived yet. */
export const UNREAD = 'Not indexed yet';

/** The title a session has now, or had at its start, or else its first prompt. */
export function titleOf({ title, eventCount }: Session, summary: SessionSummary | undefined): string {
  const begun = title === undefined || saysNothing(title) ? undefined : title;
  const isUnread = (summary?.summarizedThrough ?? 0) < eventCount;
  const named = summary?.title ?? begun ?? summary?.firstPrompt ?? title;
  return showHidden(named ?? (isUnread ? UNREAD : (deedOf(summary) ?? UNTITLED)));
}

/** What stands in for a title: the first command, else the folder. */
function deedOf(summary: SessionSummary | undefined): string | undefined {
  if (summary?.firstCommand) return `$ ${summary.firstCommand}`;
  return summary?.repository && `in ${shortName(summary.repository)}`;
}

/** When it began: what its machine said when it was opened, or its first event, if that was before. */
export function startOf(session: Session, summary: SessionSummary | undefined): number {
  const first = Date.parse(summary?.firstEventAt ?? '');
  return Math.min(Date.parse(session.startedAt), Number.isNaN(first) ? Number.POSITIVE_INFINITY : first);
}

/** Some agents write no times into their transcripts. Then only the time of capture is known, which says nothing. */
export const hasTimes = (summary: SessionSummary | undefined): boolean =>
  !summary || summary.summarizedThrough === 0 || summary.lastEventAt !== undefined;

/** How long a session took so far, in milliseconds; undefined where nobody knows. */
export const durationOf = (session: Session, summary: SessionSummary | undefined, now: number): number | undefined =>
  hasTimes(summary) ? Math.max(0, endOf(session, summary, now) - startOf(session, summary)) : undefined;

/** When it ended, as far as is known. */
export function endOf(session: Session, summary: SessionSummary | undefined, now: number): number {
  if (session.endedAt) return Date.parse(session.endedAt);
  const last = summary?.lastEventAt ? Date.parse(summary.lastEventAt) : Number.NaN;
  return Number.isNaN(last) ? now : Math.max(last, Date.parse(session.startedAt));
}

/** A folder of which no remote is known: a path of POSIX or Windows. */
const FOLDER = /^(?:[/\\~]|[A-Za-z]:[/\\])/;

/** The last two parts of an address or a folder, since many are called `api` or `web`. */
function shortName(repository: string): string {
  const parts = repository.replace(/\.git\/?$/, '').split(/[/\\:]+/);
  return showHidden(parts.filter(Boolean).slice(-2).join('/') || repository);
}

/** A repository's name, and whether no more than a folder is known of it. */
export const repositoryName = (repository: string): string =>
  FOLDER.test(repository) ? `${shortName(repository)} (folder)` : shortName(repository);
