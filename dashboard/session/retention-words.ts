import type { SessionFacts } from '../../contract/review.ts';
import { formatUtcDay, plural } from '../kit/format.ts';

/* The words about retention on the page of a session. */

type Kept = Pick<SessionFacts, 'contentRemoved' | 'contentKeptUntil' | 'keptUntil' | 'holdId'>;

const RULES = {
  organization: 'the policy of the organization',
  plane: 'the policy for its plane',
  repository: 'the policy for its repository',
} as const;

const dayOf = (at: string) => formatUtcDay(Date.parse(at), 'year');

export function removedInWords({ at, days, target }: NonNullable<Kept['contentRemoved']>): string {
  const rule = target === undefined ? 'the operator of this service' : RULES[target.kind];
  return `The content of this session was removed on ${dayOf(at)}: ${rule} keeps content for ${plural(days, 'day')}. Its facts are kept.`;
}

/** The day until which the session is kept if nothing is added; undefined: forever, or until a hold is released. */
export function keptInWords({ contentRemoved, contentKeptUntil, keptUntil, holdId }: Kept): string | undefined {
  if (holdId !== undefined) return undefined;
  if (contentKeptUntil && contentKeptUntil.at !== keptUntil?.at)
    return `content kept until ${dayOf(contentKeptUntil.at)}`;
  return keptUntil && `${contentRemoved ? 'facts ' : ''}kept until ${dayOf(keptUntil.at)}`;
}

/** What is removed on that day, and by which rule. */
export function whyKept({ contentKeptUntil, keptUntil }: Kept): string | undefined {
  const next = contentKeptUntil ?? keptUntil;
  if (!next) return undefined;
  const what = next.at === keptUntil?.at ? 'the session is deleted' : 'its content is removed, and its facts stay';
  const rule = next.target === undefined ? 'the operator of this service' : RULES[next.target.kind];
  const later = keptUntil && next.at !== keptUntil.at ? ` until ${dayOf(keptUntil.at)}` : '';
  return `Then ${what}${later}, as ${rule} says. New events restart this period`;
}
