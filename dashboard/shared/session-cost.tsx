import type { ReactNode } from 'react';
import type { SessionSummary } from '../../contract/review.ts';
import { useFacts } from '../app/queries.ts';
import { Explained } from '../kit/explained.tsx';
import { formatCost } from '../kit/format.ts';
import { CostParts } from './lazy-cost-parts.tsx';

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
  const { text, explain } = costOf(summary);
  if (text === '') return null;
  return (
    <Explained
      {...look}
      label="How the cost is made"
      hint={`${explain} at list prices; press for its parts`}
      explain={() => (
        <>
          <Parts summary={summary} />
          {more}
        </>
      )}
    >
      {text}
    </Explained>
  );
}

function Parts({ summary: { sessionId, summarizedThrough } }: Pick<Props, 'summary'>) {
  const { data, isError } = useFacts(sessionId, summarizedThrough);
  if (isError) return <p>The parts of the cost could not be read. Close this and press the cost again.</p>;
  return data ? <CostParts rows={data.usage} pricesOf={data.pricesOf} /> : <p className="text-muted">Reading…</p>;
}
