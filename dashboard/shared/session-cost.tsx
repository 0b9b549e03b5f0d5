import type { ReactNode } from 'react';
import type { SessionSummary } from '../../contract/review.ts';
import { Explained } from '../kit/explained.tsx';
import { formatCost } from '../kit/format.ts';
import { lazyPart } from '../kit/lazy.tsx';

/** Loaded with the first cost that is pressed. */
const Parts = lazyPart<Pick<Props, 'summary' | 'more'>, 'SessionCostParts'>(
  () => import('./cost-parts.tsx'),
  'SessionCostParts',
);

/** The cost of a session and an explanation of it. Some agents record output tokens, but no input tokens. */
export function costOf({ cost, inputTokens, outputTokens }: SessionSummary): { text: string; explain: string } {
  if (cost === undefined) return { text: '', explain: 'price unknown' };
  if (inputTokens > 0 || outputTokens === 0) return { text: formatCost(cost), explain: `$${cost.toFixed(4)}` };
  return { text: `> ${formatCost(cost)}`, explain: 'output only: the agent did not record input tokens' };
}

interface Props {
  summary: SessionSummary;
  className?: string;
  tabIndex?: number;
  /** Shown below the parts. */
  more?: ReactNode;
}

/** The cost of a session, with its parts. */
export function SessionCost({ summary, more, ...look }: Props) {
  const { text } = costOf(summary);
  if (text === '' || summary.cost === undefined) return null;
  return (
    <Explained {...look} cost={summary.cost} explain={() => <Parts summary={summary} more={more} />}>
      {text}
    </Explained>
  );
}
