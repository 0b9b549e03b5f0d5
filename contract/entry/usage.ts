import { asNumber, asText, type Loose } from './value.ts';

/** Tokens of one model response. `input` includes cached tokens, and `output` includes reasoning tokens. */
export interface Usage {
  responseId?: string;
  model?: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
}

/** US dollars for a million tokens. */
export interface Price {
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
}

/** US dollars. */
export const costAt = (price: Price, { input, cacheRead, cacheWrite, output }: Omit<Usage, 'reasoning'>): number =>
  (Math.max(0, input - cacheRead - cacheWrite) * price.input +
    cacheRead * price.cached +
    cacheWrite * price.cacheWrite +
    output * price.output) /
  1_000_000;

const count = (value: unknown): number => Math.max(0, asNumber(value) ?? 0);

export function readUsage(payload: Loose): Usage {
  const cacheRead = count(payload.cacheReadTokens);
  const cacheWrite = count(payload.cacheWriteTokens);
  const responseId = asText(payload.responseId);
  const model = asText(payload.model);
  const input = count(payload.inputTokens) + (payload.cached === 'excluded' ? cacheRead + cacheWrite : 0);
  const output = count(payload.outputTokens);
  const reasoning = count(payload.reasoningTokens);
  // Most agents count reasoning as part of the output. If the total also has room for the reasoning, it is counted separately
  // (Gemini).
  const isBeside = count(payload.totalTokens) >= input + output + reasoning;
  return {
    ...(responseId && { responseId }),
    ...(model && { model }),
    input,
    output: output + (isBeside ? reasoning : 0),
    cacheRead,
    cacheWrite,
    reasoning,
  };
}

/** An agent may report a response several times. The largest figures of each response count. */
export interface UsageTotals {
  total: Usage;
  byResponse: ReadonlyMap<string, Usage>;
}

const FIGURES = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const;
const zero = (): Usage => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 });

export interface UsageSum extends UsageTotals {
  /** @returns by how much the total grew */
  add(usage: Usage): Usage;
}

export function createUsageSum(): UsageSum {
  const byResponse = new Map<string, Usage>();
  const total = zero();
  return {
    total,
    byResponse,
    add(usage) {
      const before = usage.responseId === undefined ? undefined : byResponse.get(usage.responseId);
      const largest = { ...usage };
      const grown = zero();
      for (const figure of FIGURES) {
        largest[figure] = Math.max(usage[figure], before?.[figure] ?? 0);
        grown[figure] = largest[figure] - (before?.[figure] ?? 0);
        total[figure] += grown[figure];
      }
      if (usage.responseId !== undefined) byResponse.set(usage.responseId, largest);
      return grown;
    },
  };
}
