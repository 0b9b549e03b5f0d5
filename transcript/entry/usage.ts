import { type ClaudeUsage, readRest } from './rest-usage.ts';
import { asNumber, asText, type Loose } from './value.ts';

/** What besides the model and the day decides the price of a response. Absent fields are the vendor's normal terms. */
export interface Terms {
  speed?: string;
  /** The service tier. */
  tier?: string;
  /** The place of inference. */
  region?: string;
}

/**
 * Tokens of one model response. `input` includes cached tokens, `cacheWrite` includes those that are kept for one hour, and `output`
 * includes reasoning tokens.
 */
export interface Usage extends Terms {
  responseId?: string;
  model?: string;
  /** Absent: the response is the session's own answer. */
  purpose?: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h: number;
  reasoning: number;
  /** Searches that the vendor ran for the response. */
  webSearches: number;
}

const count = (value: unknown): number => Math.max(0, asNumber(value) ?? 0);

export function readUsage(payload: Loose): Usage {
  const { rest, ...named } = payload;
  const told = { ...readRest(rest), ...named };
  const cacheRead = count(told.cacheReadTokens);
  const cacheWrite = count(told.cacheWriteTokens);
  const responseId = asText(told.responseId);
  const model = asText(told.model);
  const purpose = asText(told.purpose);
  const input = count(told.inputTokens) + (told.cached === 'excluded' ? cacheRead + cacheWrite : 0);
  const output = count(told.outputTokens);
  const reasoning = count(told.reasoningTokens);
  // Most agents count reasoning as part of the output. If the total also has room for the reasoning, it is counted separately
  // (Gemini).
  const isBeside = count(told.totalTokens) >= input + output + reasoning;
  return {
    ...(responseId && { responseId }),
    ...(model && { model }),
    ...(purpose && { purpose }),
    ...readTerms(told),
    input,
    output: output + (isBeside ? reasoning : 0),
    cacheRead,
    cacheWrite,
    cacheWrite1h: Math.min(cacheWrite, count(told.cacheWrite1hTokens)),
    reasoning,
    webSearches: count(told.webSearches),
  };
}

/** The usage of a response in the form of Anthropic's API. */
export const readClaudeUsage = (responseId: unknown, model: unknown, usage: ClaudeUsage): Usage =>
  readUsage({
    responseId,
    model,
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_input_tokens,
    cacheWriteTokens: usage.cache_creation_input_tokens,
    cached: 'excluded',
    rest: { message: { usage } },
  });

/** Since July 2026 OpenAI calls its priority tier fast. */
const TIERS: Readonly<Record<string, string>> = { fast: 'priority' };
const WORD = /^[a-z][a-z0-9-]{0,19}$/;
const word = (value: unknown): string | undefined => {
  const text = asText(value)?.toLowerCase();
  return text !== undefined && WORD.test(text) ? text : undefined;
};

export function readTerms({ speed, tier, region }: Loose): Terms {
  const [ownSpeed, ownTier, ownRegion] = [word(speed), word(tier), word(region)];
  return {
    ...(ownSpeed && { speed: ownSpeed }),
    ...(ownTier && { tier: TIERS[ownTier] ?? ownTier }),
    ...(ownRegion && { region: ownRegion }),
  };
}

/** The words of terms that vendors write. */
export const KNOWN_TERMS: ReadonlySet<unknown> = new Set(
  'standard default auto global fast priority flex batch us eu'.split(' '),
);

const NORMAL: ReadonlySet<string | undefined> = new Set([undefined, 'standard', 'default', 'auto', 'global', 'none']);

/** The terms in one word; empty for the vendor's normal terms. */
export const nameOfTerms = ({ speed, tier, region }: Terms): string =>
  [speed, tier, NORMAL.has(region) ? undefined : `in:${region}`].filter((term) => !NORMAL.has(term)).join('+');

/** An agent may report a response several times. The largest figures of each response count. */
export interface UsageTotals {
  total: Usage;
  byResponse: ReadonlyMap<string, Usage>;
}

const FIGURES = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'reasoning', 'webSearches'] as const;
export const noUsage = (): Usage => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: 0,
  webSearches: 0,
});

/** A report of a response, and the report of it before; absent if it is the first one. */
export interface Growth {
  before?: Usage;
  after: Usage;
}

export interface UsageSum extends UsageTotals {
  add(usage: Usage): Growth;
}

/** The largest figures of both reports. The first report decides the terms that it names. */
export function largestOf(before: Usage | undefined, usage: Usage): Usage {
  const largest = { ...usage, ...(before && pickTerms(before)) };
  for (const figure of FIGURES) largest[figure] = Math.max(usage[figure], before?.[figure] ?? 0);
  return largest;
}

const pickTerms = ({ speed, tier, region }: Terms): Terms => ({
  ...(speed && { speed }),
  ...(tier && { tier }),
  ...(region && { region }),
});

export function createUsageSum(): UsageSum {
  const byResponse = new Map<string, Usage>();
  const total = noUsage();
  return {
    total,
    byResponse,
    add(usage) {
      const before = usage.responseId === undefined ? undefined : byResponse.get(usage.responseId);
      const after = largestOf(before, usage);
      for (const figure of FIGURES) total[figure] += after[figure] - (before?.[figure] ?? 0);
      if (usage.responseId !== undefined) byResponse.set(usage.responseId, after);
      return { ...(before && { before }), after };
    },
  };
}
