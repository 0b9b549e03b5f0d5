import { storable } from '../store/columns.ts';
import type { SessionDay } from '../store/session-rows.ts';
import type { Spent } from './facts.ts';

/** The figures of a session for a day or a part of it. */
export type Figures = Omit<SessionDay, 'day' | 'kind' | 'name' | 'agent_id' | 'environment_id' | 'repository'>;

export const NOTHING: Figures = {
  sessions: 0,
  prompts: 0,
  tool_calls: 0,
  failures: 0,
  input_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  unpriced_tokens: 0,
  cost: 0,
  last_used_at: null,
  is_listed: 0,
};

/** A store may keep different names in the same form, so their figures are added up. */
export function add(rows: Map<string, Figures>, name: string, figures: Figures): void {
  const key = storable(name);
  const known = rows.get(key);
  if (known === undefined) {
    rows.set(key, figures);
    return;
  }
  const sum = addTokens(known, figures);
  for (const figure of ['sessions', 'prompts', 'tool_calls', 'failures'] as const) sum[figure] += figures[figure];
  if (sum.last_used_at !== null) sum.last_used_at = Math.max(sum.last_used_at, figures.last_used_at ?? 0);
  sum.is_listed = Math.max(sum.is_listed, figures.is_listed);
  rows.set(key, sum);
}

export function addTokens(one: Figures, other: Figures): Figures {
  return {
    ...one,
    input_tokens: one.input_tokens + other.input_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    unpriced_tokens: one.unpriced_tokens + other.unpriced_tokens,
    cost: one.cost + other.cost,
  };
}

export function figuresOf({ tokens: [input, cached, cacheWrite, , output], cost, unpriced }: Spent): Figures {
  return {
    ...NOTHING,
    input_tokens: input,
    cached_tokens: cached,
    cache_write_tokens: cacheWrite,
    output_tokens: output,
    unpriced_tokens: unpriced,
    cost,
  };
}
