import type { Milestone } from '../../contract/review.ts';
import { destinationOf } from '../kit/link-host.ts';

interface Props {
  milestone: Milestone;
  className?: string;
}

/** A link to a pull request that a session mentions. The host comes from an agent's output, so the label names it. */
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
