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

const { last_used_at: _, is_listed: __, ...SUMMED } = NOTHING;
const NAMES = Object.keys(SUMMED) as (keyof typeof SUMMED)[];

export function sumOf(one: Figures, other: Figures): Figures {
  const sum = { ...one };
  for (const name of NAMES) sum[name] += other[name];
  if (sum.last_used_at !== null) sum.last_used_at = Math.max(sum.last_used_at, other.last_used_at ?? 0);
  sum.is_listed = Math.max(sum.is_listed, other.is_listed);
  return sum;
}

/** A store may keep different names in the same form, so their figures are added up. */
export function add(rows: Map<string, Figures>, name: string, figures: Figures): void {
  const key = storable(name);
  const known = rows.get(key);
  rows.set(key, known === undefined ? figures : sumOf(known, figures));
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
