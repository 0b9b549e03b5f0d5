import type { ReactNode } from 'react';
import type { SessionSummary } from '../../contract/review.ts';
import { formatCost, formatCount, formatDuration, plural } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { PullRequestLink } from '../shared/pull-request-link.tsx';
import { SessionCost } from '../shared/session-cost.tsx';
import type { Outcome } from './model/outcome.ts';

export interface OutcomeLinks {
  /** Shows an event in the timeline. */
  onSelect: (sequence: number) => void;
  onChanges: () => void;
  onFailures: () => void;
}

interface Props extends OutcomeLinks {
  outcome: Outcome;
  summary: SessionSummary | undefined;
  isLive: boolean;
  /** How long the session took. */
  elapsed: ReactNode;
}

/** The outcome of the session in one line. Each part links to its place in the session. */
export function OutcomeLine({ outcome, summary, isLive, elapsed, onSelect, onChanges, onFailures }: Props) {
  const { tests, interrupted, commits, pullRequests, changes, failures, waiting, dearest } = outcome;
  return (
    <ul
      aria-label="Outcome"
      className="flex flex-wrap gap-x-1 text-13 tabular-nums max-sm:items-center [&>li:not(:last-child)]:after:ml-1 [&>li:not(:last-child)]:after:text-muted [&>li:not(:last-child)]:after:content-['·']"
    >
      {interrupted && (
        <Part title="Go to the interruption" tone="text-warn" onClick={() => onSelect(interrupted.at)}>
          {isLive ? 'Last turn interrupted' : 'Interrupted'}
        </Part>
      )}
      {tests && (
        <Part
          title={`Go to the run since which the tests are ${tests.passed ? 'green' : 'red'}`}
          tone={tests.passed ? 'text-ok' : 'text-bad'}
          onClick={() => onSelect(tests.at)}
        >
          {`${isLive ? 'Tests are' : 'Tests ended'} ${tests.passed ? 'green' : 'red'}`}
        </Part>
      )}
      {commits && (
        <Part
          title={`Go to the last commit${commits.isPushed ? '' : '. No push was recorded after it'}`}
          onClick={() => onSelect(commits.at)}
        >
          {plural(commits.count, 'commit')}
          {commits.isPushed ? ', pushed' : ', not pushed'}
        </Part>
      )}
      {pullRequests.map((milestone) => (
        <li key={milestone.url ?? milestone.sequence}>
          <PullRequestLink milestone={milestone} className="" />
        </li>
      ))}
      {changes && (
        <Part title="Go to the changes" onClick={onChanges}>
          {plural(changes.files, 'file')} <Lines added={changes.added} removed={changes.removed} />
        </Part>
      )}
      {failures && (
        <Part
          title="A failure counts as recovered if a later call for the same file, command or purpose succeeded"
          tone={failures.recovered < failures.count ? 'text-bad' : ''}
          onClick={() => (failures.recovered < failures.count ? onSelect(failures.at) : onFailures())}
        >
          {plural(failures.count, 'failure')}, {wordsOfRecovery(failures)}
        </Part>
      )}
      <li>{elapsed}</li>
      {waiting && (
        <Part title="Go to the prompt after the longest wait" onClick={() => onSelect(waiting.at)}>
          waited {formatDuration(waiting.durationMs)}
        </Part>
      )}
      {summary?.cost !== undefined && (
        <li>
          <SessionCost
            summary={summary}
            className={PART}
            more={
              dearest && (
                <button type="button" className="link" onClick={() => onSelect(dearest.at)}>
                  Turn {dearest.turn} cost most: {formatCost(dearest.cost)}
                </button>
              )
            }
          />
        </li>
      )}
    </ul>
  );
}

function wordsOfRecovery({ count, recovered }: NonNullable<Outcome['failures']>): string {
  if (recovered === 0) return count === 1 ? 'not recovered' : 'none recovered';
  if (recovered < count) return `${formatCount(recovered)} recovered`;
  if (count === 1) return 'recovered';
  return count === 2 ? 'both recovered' : 'all recovered';
}

interface PartProps {
  title: string;
  tone?: string;
  onClick: () => void;
  children: ReactNode;
}

const PART = 'cursor-pointer rounded-sm hover:underline hover:underline-offset-3 max-sm:min-h-6';

const Part = ({ title, tone = '', onClick, children }: PartProps) => (
  <li>
    <button type="button" className={`${PART} ${tone}`} title={title} onClick={onClick}>
      {children}
    </button>
  </li>
);
