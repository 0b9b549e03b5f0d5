import { expect, test } from 'vitest';
import { codex } from '../../agents/codex/codex.ts';
import { type Transcript, transcriptsOf } from './corpus.ts';

const transcripts = transcriptsOf(codex).filter(({ path }) => /full|rollout/.test(path));

/** Adds up the largest token count of each response, as a reader of the events does, and finds the agent's own last total. */
function totalsOf({ origin, lines }: Transcript): { added: number; told: number } {
  const byResponse = new Map<string, number>();
  let told = 0;
  for (const line of lines) {
    const record = JSON.parse(line);
    const total = record.payload?.info?.total_token_usage;
    if (total) told = total.input_tokens + total.output_tokens;
    for (const event of codex.parse(record, { origin, file: 'f', position: 0 })) {
      if (event.eventType !== 'usage') continue;
      const { responseId = '', inputTokens = 0, outputTokens = 0 } = event.payload;
      byResponse.set(responseId, Math.max(byResponse.get(responseId) ?? 0, inputTokens + outputTokens));
    }
  }
  return { added: [...byResponse.values()].reduce((sum, tokens) => sum + tokens, 0), told };
}

// A fork in 0.169 continues its parent's total, and in one real session the agent's counter drops in the middle.
test.skipIf(transcripts.length === 0)("the sum of the usage events equals the agent's own count", () => {
  const totals = transcripts.filter(({ origin }) => origin.forkedFrom === undefined || origin.subagent).map(totalsOf);
  const different = totals.filter(({ added, told }) => told > 0 && added !== told);
  expect(different.length).toBeLessThanOrEqual(0.05 * totals.length);
});
