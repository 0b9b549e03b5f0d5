import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calcPrice } from '@pydantic/genai-prices';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Counts, costAt } from '../../../transcript/entry/cost.ts';
import { noUsage } from '../../../transcript/entry/usage.ts';
import { OVERRIDES } from './overrides.ts';
import { LIBRARY, readPriceList } from './price-list.ts';
import { readPrices } from './prices.ts';

const folder = mkdtempSync(join(tmpdir(), 'prices-'));
let files = 0;
const write = (table: unknown) => {
  const file = join(folder, `${++files}.json`);
  writeFileSync(file, JSON.stringify(table));
  return file;
};
afterAll(() => rmSync(folder, { recursive: true }));

const MILLION = 1_000_000;
const DAY = '2026-11-20';

/** US dollars; undefined if no price is known. */
function costOf(prices: ReturnType<typeof readPrices>, model: string, counts: Partial<Counts>, terms = '', day = DAY) {
  const all = { ...noUsage(), ...counts };
  const priced = prices.priceOf(model, day, terms, all);
  return priced && costAt(priced.price, all) / 1e9;
}

describe('prices', () => {
  const prices = readPrices();
  const dollars = (model: string, counts: Partial<Counts>, terms?: string, day?: string) =>
    costOf(prices, model, counts, terms, day);

  test.each<[what: string, model: string, counts: Partial<Counts>, terms: string, dollars: number]>([
    [
      'a cache kept for one hour',
      'claude-opus-4-6',
      { input: MILLION, cacheWrite: MILLION, cacheWrite1h: MILLION },
      '',
      10,
    ],
    ['a cache kept for five minutes', 'claude-opus-4-6', { input: MILLION, cacheWrite: MILLION }, '', 6.25],
    ['both', 'claude-opus-4-6', { input: MILLION, cacheWrite: MILLION, cacheWrite1h: 400_000 }, '', 4 + 3.75],
    ['fast mode', 'claude-opus-4-6', { input: MILLION, output: MILLION }, 'fast', 180],
    ['fast mode of a later model', 'claude-opus-4-8', { input: MILLION, output: MILLION }, 'fast', 60],
    ['the advisor of a session', 'claude-opus-4-7', { input: 159_419, output: 7_805 }, '', 0.99222],
    [
      'the session of that advisor',
      'claude-sonnet-4-6',
      { input: 234_439, cacheRead: 226_584, cacheWrite: 7_853, output: 491 },
      '',
      0.10479495,
    ],
    ['a hundred web searches', 'claude-opus-4-6', { webSearches: 100 }, '', 1],
    ['inference in the US', 'claude-opus-4-6', { input: MILLION }, 'in:us', 5.5],
    ['inference in the US in fast mode', 'claude-opus-4-6', { input: MILLION }, 'fast+in:us', 33],
    ['a batch', 'claude-opus-4-6', { input: MILLION }, 'batch', 2.5],
    ['the priority tier', 'gpt-5.6-terra', { input: 100_000, output: 100_000 }, 'priority', 2.8],
    ['the normal tier', 'gpt-5.6-terra', { input: 100_000, output: 100_000 }, '', 1.4],
    ['the flex tier', 'gpt-5.4', { input: 100_000 }, 'flex', 0.125],
    ['a prompt of 271,999 tokens', 'gpt-5.4', { input: 271_999 }, '', 0.6799975],
    ['a prompt of 272,000 tokens', 'gpt-5.4', { input: 272_000 }, '', 1.36],
    [
      'all tokens of such a response',
      'gpt-5.4',
      { input: 300_000, cacheRead: 200_000, output: 10_000 },
      '',
      0.5 + 0.1 + 0.225,
    ],
    ['the priority tier, which has no long prompts', 'gpt-5.4', { input: 300_000 }, 'priority', 1.5],
    ['a long prompt of a small model', 'claude-haiku-5-5', { input: 200_000, output: 10_000 }, '', 0.125],
    ['a prompt of more than 200,000 tokens', 'gemini-3-pro-preview', { input: 300_000 }, '', 1.2],
  ])('of %s', (_, model, counts, terms, expected) => {
    expect(dollars(model, counts, terms)).toBeCloseTo(expected, 9);
  });

  test.each([
    ['2026-10-06', 0.2],
    ['2026-10-07', 0.1],
  ])('on %s are those of that day', (day, expected) => {
    expect(dollars('claude-sonnet-5-5', { input: MILLION, cacheRead: MILLION }, '', day)).toBe(expected);
  });

  /** As Copilot CLI writes them. US dollars for ten responses, each with 100,000 tokens in and 100,000 tokens out. */
  test.each([
    ['claude-opus-4.6', 30],
    ['claude-opus-4.5', 30],
    ['anthropic/claude-opus-4.6', 30],
    ['claude-sonnet-4.5', 18],
    ['claude-haiku-4.5', 6],
    ['claude-opus-5.5', 24],
    ['gpt-5.1-codex', 11.25],
    ['gemini-3-pro-preview', 14],
  ])('of %s, whose version is written with a dot, are those of its vendor', (model, expected) => {
    expect(10 * (dollars(model, { input: 100_000, output: 100_000 }) ?? 0)).toBeCloseTo(expected, 9);
  });

  test.each(['claude-opus-4-9', 'claude-opus-7', 'claude-mythos-5-2', 'gpt-6.9-sol', 'haiku', '<synthetic>', ''])(
    'of %s are not guessed from another version',
    (model) => expect(dollars(model, { input: 1 })).toBeUndefined(),
  );

  test.each([
    ['gpt-5.6-terra', '', 14],
    ['gpt-5.6-terra', 'priority', 28],
    ['claude-sonnet-4.5', '', 18],
    ['gemini-3-pro-preview', '', 14],
  ])(
    'of %s %s are those of short prompts if a report has more tokens than one response can have',
    (model, terms, cost) => {
      expect(dollars(model, { input: MILLION, output: MILLION }, terms)).toBe(cost);
    },
  );

  test('name the terms that have no known price, and then are the normal ones', () => {
    expect(prices.priceOf('claude-opus-4-6', DAY, 'fast+slow', { input: 1, output: 0 })).toMatchObject({
      unknown: 'slow',
      price: { input: 30 },
    });
    const long = { input: 300_000, output: 0 };
    expect(prices.priceOf('gpt-5.4', DAY, 'priority', long)).toMatchObject({ unknown: 'priority', above: 271_999 });
  });

  test.each([
    ['claude-opus-4-6', { most: 1_000_000, usual: 200_000 }],
    ['claude-opus-4-5', { most: 200_000, usual: 200_000 }],
    ['gemini-2.5-pro', { most: 1_048_576, usual: 1_048_576 }],
    ['gpt-5.6-sol', { most: 1_050_000, usual: 1_050_000 }],
    ['nobody-knows', undefined],
  ])('know the context of %s', (model, window) => expect(prices.contextWindowOf(model)).toEqual(window));

  test('are those of the release of the library that is installed', () => {
    const installed = new URL('../../../node_modules/@pydantic/genai-prices/package.json', import.meta.url);
    expect(JSON.parse(readFileSync(installed, 'utf8')).version).toBe(LIBRARY.version);
  });
});

test.each(OVERRIDES)('the library still lacks what the row of $model has', ({ model, prices, contextWindow }) => {
  const found = [model, `${model}-preview`]
    .map((name) => calcPrice({}, name, { timestamp: new Date('2026-11-28T12:00:00Z') }))
    .find((each) => each !== null);
  const given = prices.at(-1);
  const { input_mtok, cache_read_mtok, output_mtok } = found?.model_price ?? {};
  const isSame = given
    ? input_mtok === given.input && output_mtok === given.output && cache_read_mtok === given.cached
    : found?.model.context_window === contextWindow;
  expect(isSame).toBe(false);
});

describe('prices of an own file', () => {
  let file: string;
  beforeAll(() => {
    file = write({
      date: '2026-11-01',
      models: [
        {
          model: 'swift',
          contextWindow: 1_000,
          prices: [{ input: 10, cached: 1, cacheWrite: 12, output: 50 }],
          times: { fast: 3 },
        },
        {
          model: 'swift-mini',
          prices: [
            { input: 1, output: 5 },
            { from: '2026-06-01', input: 2, output: 6, long: { above: 2_000_000, input: 4, output: 12 } },
          ],
        },
        { model: 'claude-opus-4-6', prices: [{ input: 1, output: 1 }] },
      ],
    });
  });

  test('count plain, cached and written input tokens separately', () => {
    const counts = { input: 1_000_000, cacheRead: 500_000, cacheWrite: 100_000, output: 10_000 };
    expect(costOf(readPrices(file), 'swift', counts)).toBeCloseTo(0.4 * 10 + 0.5 * 1 + 0.1 * 12 + 0.01 * 50, 9);
  });

  test.each([
    ['swift-mini-20261101', '2026-05-31', 1],
    ['swift-mini', '2026-06-01', 2],
    ['vendor/swift-mini', '2026-06-01', 2],
    ['us.anthropic.Swift-Mini-v1:0', '2026-06-01', 2],
    ['swift-maxi', '2026-06-01', 10],
    ['claude-opus-4-6', '2026-06-01', 1],
    ['claude-opus-4-5', '2026-06-01', 5],
    ['slow', '2026-06-01', undefined],
    ['', '2026-06-01', undefined],
  ])('of %s on %s are those of the longest matching name on that day: %s', (model, day, cost) => {
    expect(costOf(readPrices(file), model, { input: MILLION }, '', day)).toBe(cost);
  });

  test('have lengths of prompts and terms of their own', () => {
    const prices = readPrices(file);
    expect(costOf(prices, 'swift-mini', { input: 3 * MILLION })).toBe(12);
    expect(costOf(prices, 'swift', { input: MILLION }, 'fast')).toBe(30);
  });

  test('contain the size of a context, if it is known', () => {
    const prices = readPrices(file);
    expect([prices.contextWindowOf('swift-1'), prices.contextWindowOf('swift-mini')]).toEqual([
      { most: 1_000, usual: 1_000 },
      undefined,
    ]);
  });

  test('have a day and a fingerprint of their own', () => {
    expect(readPriceList(file).date).toBe('2026-11-01');
    expect(readPriceList(file).fingerprint).not.toBe(readPriceList().fingerprint);
  });

  test('that are invalid stop the service with a message that names the place', () => {
    const wrong = write({ date: '2026-11-01', models: [{ model: 'x', prices: [{ input: -1, output: 1 }] }] });
    expect(() => readPriceList(wrong)).toThrow(
      /^PRICES_FILE .*\.json cannot .* not as expected: \/models\/0\/prices\/0\/input/,
    );
    writeFileSync(wrong, '{"date":');
    expect(() => readPriceList(wrong)).toThrow(/^PRICES_FILE .*\.json cannot be used: .*JSON/);
    expect(() => readPriceList(join(folder, 'none.json'))).toThrow(/^PRICES_FILE .*none\.json cannot be used: ENOENT/);
  });
});
