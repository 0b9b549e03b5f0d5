import type { Milestone } from '../../contract/review.ts';
import { destinationOf } from '../kit/link-host.ts';

/** Leads to the pull request itself, where a session tells of one. Whose host that is an agent's output says. */
export function PullRequestLink({ milestone: { url = '' } }: { milestone: Milestone }) {
  const number = /\d+$/.exec(url)?.[0];
  const destination = destinationOf(url, '');
  if (!destination || number === undefined) return null;
  return (
    <a
      className="link num flex-none px-1 text-12 leading-6"
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
