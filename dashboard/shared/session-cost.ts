import type { SessionSummary } from '../../contract/review.ts';
import { formatCost } from '../kit/format.ts';

/** What a session cost, and what is to be known of it. Some agents record the tokens they write, and none they read. */
export function costOf({ cost, inputTokens, outputTokens }: SessionSummary): { text: string; explain: string } {
  if (cost === undefined) return { text: '', explain: 'no price is known' };
  if (inputTokens > 0 || outputTokens === 0) return { text: formatCost(cost), explain: `$${cost.toFixed(4)}` };
  return { text: `> ${formatCost(cost)}`, explain: 'output alone: its agent did not record what it read' };
}
