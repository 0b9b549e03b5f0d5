import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder } from '../remainder.ts';
import { takeInteger } from '../typed.ts';
import { threadOf } from './origin.ts';

export function readTokenCount(remainder: Remainder, place: RecordPlace): Draft[] {
  const at: Path = ['payload', 'info'];
  return readUsage(remainder, place, [...at, 'last_token_usage'], [...at, 'total_token_usage']);
}

export function readUsageRecord(remainder: Remainder, place: RecordPlace): Draft[] {
  return readUsage(remainder, place, ['payload', 'usage'], ['payload', 'thread_token_usage']);
}

function readUsage(remainder: Remainder, place: RecordPlace, last: Path, total: Path): Draft[] {
  const responseId = runningTotal(remainder, place, total);
  const counts = {
    inputTokens: takeInteger(remainder, ...last, 'input_tokens'),
    outputTokens: takeInteger(remainder, ...last, 'output_tokens'),
    cacheReadTokens: takeInteger(remainder, ...last, 'cached_input_tokens'),
    cacheWriteTokens: takeInteger(remainder, ...last, 'cache_write_input_tokens'),
    reasoningTokens: takeInteger(remainder, ...last, 'reasoning_output_tokens'),
    totalTokens: takeInteger(remainder, ...last, 'total_tokens'),
  };
  if (Object.values(counts).every((count) => count === undefined)) return [];
  return [draft('usage', { responseId, ...counts, cached: 'included' })];
}

/**
 * The thread's running total after a response stands for the response. `token_count` has no id of it and is repeated
 * while nothing is used (224 of 3008 in real sessions), a copied history has the parent's, and since 0.169
 * `token_usage_record` says the same next to it, with the id. The totals are equal in all of these, and grow in between.
 */
function runningTotal(remainder: Remainder, place: RecordPlace, total: Path): string | undefined {
  const [input, output] = ['input_tokens', 'output_tokens'].map((key) => peek(remainder, ...total, key));
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  const { origin } = place;
  // Histories were copied before records had numbers; the copy's totals go on from those of the thread copied from.
  const isCopying = origin.subagent !== undefined && peek(remainder, 'ordinal') === undefined;
  const thread = (isCopying ? origin.forkedFrom : undefined) ?? threadOf(origin);
  return `${thread}:${input}+${output}`;
}
