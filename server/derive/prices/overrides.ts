import type { PriceRow } from './price-row.ts';

/** A model that the library lacks, or whose price there is out of date. */
interface Override extends PriceRow {
  source: string;
  /** The day on which the source was read. */
  read: string;
}

const CLAUDE = 'https://platform.claude.com/docs/en/about-claude/pricing';
const OPENAI = 'https://developers.openai.com/api/docs/pricing';
const QWEN = 'https://www.alibabacloud.com/help/en/model-studio/model-pricing';
const GEMINI = 'https://ai.google.dev/gemini-api/docs/models';
const DEEPSEEK = 'https://api-docs.deepseek.com/quick_start/pricing';
const MOONSHOT = 'https://platform.moonshot.ai/docs/pricing/chat';
const XAI = 'https://docs.x.ai/docs/models';

const SEARCHES = { webSearch: 10 };
const MYTHOS = { input: 10, cacheWrite: 12.5, cacheWrite1h: 20, output: 50, ...SEARCHES };
const SONNET_5_5 = { input: 2, cacheWrite: 2.5, cacheWrite1h: 4, output: 10, ...SEARCHES };

/** The price of a prompt of 272,000 tokens or more at OpenAI: input twice as much, output one and a half times. */
const withLong = (price: { input: number; cached: number; cacheWrite: number; output: number }) => ({
  ...price,
  ...SEARCHES,
  long: {
    above: 271_999,
    input: price.input * 2,
    cached: price.cached * 2,
    cacheWrite: price.cacheWrite * 2,
    output: price.output * 1.5,
  },
});

export const OVERRIDES: readonly Override[] = [
  {
    model: 'claude-sonnet-5-5',
    prices: [
      { ...SONNET_5_5, cached: 0.2 },
      { ...SONNET_5_5, from: '2026-10-07', cached: 0.1 },
    ],
    source: CLAUDE,
    read: '2026-11-28',
  },
  {
    model: 'claude-haiku-5-5',
    contextWindow: 1_000_000,
    prices: [
      {
        ...{ input: 0.1, cached: 0.01, cacheWrite: 0.125, cacheWrite1h: 0.2, output: 0.5, ...SEARCHES },
        long: { above: 100_000, input: 0.5, cached: 0.05, cacheWrite: 0.625, cacheWrite1h: 1, output: 2.5 },
      },
    ],
    source: CLAUDE,
    read: '2026-11-28',
  },
  {
    model: 'claude-mythos-5',
    contextWindow: 1_000_000,
    prices: [{ ...MYTHOS, cached: 1 }],
    source: CLAUDE,
    read: '2026-11-28',
  },
  {
    model: 'claude-mythos-5-1',
    contextWindow: 1_000_000,
    prices: [{ ...MYTHOS, cached: 0.25 }],
    source: CLAUDE,
    read: '2026-11-28',
  },
  {
    model: 'gpt-6.1-sol',
    contextWindow: 1_050_000,
    prices: [withLong({ input: 2, cached: 0.1, cacheWrite: 2.5, output: 10 })],
    source: OPENAI,
    read: '2026-11-28',
  },
  {
    model: 'gpt-6.2-sol',
    contextWindow: 1_050_000,
    prices: [withLong({ input: 2, cached: 0.1, cacheWrite: 2.5, output: 10 })],
    source: OPENAI,
    read: '2026-11-28',
  },
  {
    model: 'gpt-6.2-astra',
    contextWindow: 1_050_000,
    prices: [withLong({ input: 8, cached: 0.4, cacheWrite: 10, output: 40 })],
    source: OPENAI,
    read: '2026-11-28',
  },
  {
    model: 'codex-mini',
    contextWindow: 200_000,
    prices: [{ input: 1.5, cached: 0.375, output: 6 }],
    source: OPENAI,
    read: '2026-11-22',
  },
  {
    model: 'deepseek-chat',
    prices: [
      { input: 0.27, cached: 0.07, output: 1.1 },
      { from: '2025-09-29', input: 0.28, cached: 0.028, output: 0.42 },
    ],
    source: DEEPSEEK,
    read: '2026-11-22',
  },
  {
    model: 'deepseek-reasoner',
    prices: [
      { input: 0.55, cached: 0.14, output: 2.19 },
      { from: '2025-09-29', input: 0.28, cached: 0.028, output: 0.42 },
    ],
    source: DEEPSEEK,
    read: '2026-11-22',
  },
  {
    model: 'qwen3-coder-plus',
    contextWindow: 1_000_000,
    prices: [{ input: 1, cached: 0.1, output: 5 }],
    source: QWEN,
    read: '2026-11-22',
  },
  {
    model: 'qwen3-coder-flash',
    contextWindow: 1_000_000,
    prices: [{ input: 0.3, cached: 0.03, output: 1.5 }],
    source: QWEN,
    read: '2026-11-22',
  },
  {
    model: 'qwen3-max',
    contextWindow: 262_144,
    prices: [{ input: 1.2, cached: 0.24, output: 6 }],
    source: QWEN,
    read: '2026-11-22',
  },
  {
    model: 'qwen-plus',
    contextWindow: 1_000_000,
    prices: [{ input: 0.4, output: 1.2 }],
    source: QWEN,
    read: '2026-11-22',
  },
  {
    model: 'grok-build',
    contextWindow: 256_000,
    prices: [
      {
        ...{ input: 1, cached: 0.2, output: 2 },
        long: { above: 199_999, input: 2, cached: 0.4, output: 4 },
      },
    ],
    source: XAI,
    read: '2026-11-28',
  },
  {
    model: 'kimi-k2',
    contextWindow: 262_144,
    prices: [{ input: 0.6, cached: 0.15, output: 2.5 }],
    source: MOONSHOT,
    read: '2026-11-22',
  },
  { model: 'gemini-2.5-pro', contextWindow: 1_048_576, prices: [], source: GEMINI, read: '2026-11-22' },
  { model: 'gemini-3-pro', contextWindow: 1_048_576, prices: [], source: GEMINI, read: '2026-11-22' },
  { model: 'gemini-3.1-pro', contextWindow: 1_048_576, prices: [], source: GEMINI, read: '2026-11-22' },
];
