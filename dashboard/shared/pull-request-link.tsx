import type { Milestone } from '../../contract/review.ts';
import { destinationOf } from '../kit/link-host.ts';

interface Props {
  milestone: Milestone;
  className?: string;
}

/** Leads to the pull request itself, where a session tells of one. Whose host that is an agent's output says. */
export function PullRequestLink({ milestone: { url = '' }, className = 'px-1 text-12 leading-6' }: Props) {
  const number = /\d+$/.exec(url)?.[0];
  const destination = destinationOf(url, '');
  if (!destination || number === undefined) return null;
  return (
    <a
      className={`link num flex-none ${className}`}
      href={destination.href}
      title={destination.href}
      aria-label={`Pull request #${number} on ${destination.tell}`}
      target="_blank"
      rel="noopener noreferrer nofollow"
    >
      #{number}
    </a>
  );
}
