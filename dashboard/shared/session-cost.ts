import type { SessionSummary } from '../../contract/review.ts';
import { formatCost } from '../kit/format.ts';

/** The cost of a session and an explanation of it. Some agents record output tokens, but no input tokens. */
export function costOf({ cost, inputTokens, outputTokens }: SessionSummary): { text: string; explain: string } {
  if (cost === undefined) return { text: '', explain: 'price unknown' };
  if (inputTokens > 0 || outputTokens === 0) return { text: formatCost(cost), explain: `$${cost.toFixed(4)}` };
  return { text: `> ${formatCost(cost)}`, explain: 'output only: the agent did not record input tokens' };
}
