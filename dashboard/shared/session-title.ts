import { isFolder } from '../../contract/repository.ts';
import type { SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { saysNothing } from '../../transcript/entry/value.ts';
import { showHidden } from '../kit/text/controls.ts';

export const UNTITLED = 'Untitled session';
/** The title may be in events that are stored but not derived yet. */
export const UNREAD = 'Not indexed yet';

/** The current title of a session, its title at the start, or else its first prompt. */
export function titleOf({ title, eventCount }: Session, summary: SessionSummary | undefined): string {
  const begun = title === undefined || saysNothing(title) ? undefined : title;
  const isUnread = (summary?.summarizedThrough ?? 0) < eventCount;
  const named = summary?.title ?? begun ?? summary?.firstPrompt ?? title;
  return showHidden(named ?? (isUnread ? UNREAD : (deedOf(summary) ?? UNTITLED)));
}

/** A substitute for a title: the first command, or else the folder. */
function deedOf(summary: SessionSummary | undefined): string | undefined {
  if (summary?.firstCommand) return `$ ${summary.firstCommand}`;
  return summary?.repository && `in ${shortName(summary.repository)}`;
}

/** The start of a session: the time that its machine reported, or the time of its first event if that is earlier. */
export function startOf(session: Session, summary: SessionSummary | undefined): number {
  const first = Date.parse(summary?.firstEventAt ?? '');
  return Math.min(Date.parse(session.startedAt), Number.isNaN(first) ? Number.POSITIVE_INFINITY : first);
}

/** Some agents write no times into their transcripts. Then only the time of capture is known, which means nothing to a reader. */
export const hasTimes = (summary: SessionSummary | undefined): boolean =>
  !summary || summary.summarizedThrough === 0 || summary.lastEventAt !== undefined;

/** The duration of a session so far, in milliseconds; undefined if it is unknown. */
export const durationOf = (session: Session, summary: SessionSummary | undefined, now: number): number | undefined =>
  hasTimes(summary) ? Math.max(0, endOf(session, summary, now) - startOf(session, summary)) : undefined;

/** The end of a session, as far as it is known. */
export function endOf(session: Session, summary: SessionSummary | undefined, now: number): number {
  if (session.endedAt) return Date.parse(session.endedAt);
  const last = summary?.lastEventAt ? Date.parse(summary.lastEventAt) : Number.NaN;
  return Number.isNaN(last) ? now : Math.max(last, Date.parse(session.startedAt));
}

/** The last two parts of an address or a folder, since many are called `api` or `web`. */
function shortName(repository: string): string {
  const parts = repository.replace(/\.git\/?$/, '').split(/[/\\:]+/);
  return showHidden(parts.filter(Boolean).slice(-2).join('/') || repository);
}

/** The name of a repository, marked if only its folder is known. */
export const repositoryName = (repository: string): string =>
  isFolder(repository) ? `${shortName(repository)} (folder)` : shortName(repository);
