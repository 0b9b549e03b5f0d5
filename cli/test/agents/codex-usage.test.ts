import { expect, test } from 'vitest';
import { codex } from '../../agents/codex/codex.ts';
import { type Transcript, transcriptsOf } from './corpus.ts';

const transcripts = transcriptsOf(codex).filter(({ path }) => /full|rollout/.test(path));

/**
 * Adds up the largest token count of each response, as a reader of the events does, and finds the agent's own last total: without the
 * total of the copies that a sub-agent's file begins with, which its parent's file counts.
 */
function totalsOf({ origin, lines }: Transcript): { added: number; told: number } {
  const byResponse = new Map<string, number>();
  let told = 0;
  let copied = 0;
  for (const line of lines) {
    const record = JSON.parse(line);
    const total = record.payload?.info?.total_token_usage;
    if (total) told = total.input_tokens + total.output_tokens;
    for (const event of codex.parse(record, { origin, file: 'f', position: 0 })) {
      if (event.eventType === 'record' && event.payload.kind === 'duplicate:token_count') copied = told;
      if (event.eventType !== 'usage') continue;
      const { responseId = '', inputTokens = 0, outputTokens = 0 } = event.payload;
      byResponse.set(responseId, Math.max(byResponse.get(responseId) ?? 0, inputTokens + outputTokens));
    }
  }
  return { added: [...byResponse.values()].reduce((sum, tokens) => sum + tokens, 0), told: told - copied };
}

// A fork in 0.169 continues its parent's total, and in one real session the agent's counter drops in the middle.
test.skipIf(transcripts.length === 0)("the sum of the usage events equals the agent's own count", () => {
  const totals = transcripts.filter(({ origin }) => origin.forkedFrom === undefined || origin.subagent).map(totalsOf);
  const different = totals.filter(({ added, told }) => told > 0 && added !== told);
  expect(different.length).toBeLessThanOrEqual(0.05 * totals.length);
});

const time = (second: number) => `2026-11-20T09:00:${String(second).padStart(2, '0')}.000Z`;

const count = (second: number, input: number, output: number) => ({
  timestamp: time(second),
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: {
      total_token_usage: { input_tokens: input, output_tokens: output },
      last_token_usage: { input_tokens: 1_000, output_tokens: 10 },
    },
  },
});

const PARENT = 'aaaaaaaa-1111-7000-8000-000000000001';
const CHILD = 'aaaaaaaa-1111-7000-8000-000000000002';

/** The kinds of spawned thread: with its parent's history or without, with the times of the copies kept or not. */
const HISTORIES = {
  'with times that were kept': [count(1, 1_000, 10), count(2, 2_000, 20)],
  'with the time of copying': [count(30, 1_000, 10), count(30, 2_000, 20)],
  'that was not copied': [],
};

test.each(Object.entries(HISTORIES))("a sub-agent's file counts its own responses beside a history %s", (_, copies) => {
  const meta = {
    timestamp: time(30),
    type: 'session_meta',
    payload: {
      id: CHILD,
      session_id: PARENT,
      source: { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1 } } },
    },
  };
  const path = `rollout-2026-11-20T09-00-30-${CHILD}.jsonl`;
  const origin = codex.identify({ root: '/', path }, structuredClone(meta));
  const events = [meta, ...copies, count(35, 3_000, 30), count(39, 4_000, 40)].flatMap((record) =>
    codex.parse(structuredClone(record), { origin, file: path, position: 0 }),
  );
  const ids = events.flatMap((event) => (event.eventType === 'usage' ? [event.payload.responseId] : []));
  expect(ids).toEqual([`${CHILD}:3000+30`, `${CHILD}:4000+40`]);
});
