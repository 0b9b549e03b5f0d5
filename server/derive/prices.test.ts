import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPrices } from './prices.ts';

const folder = mkdtempSync(join(tmpdir(), 'prices-'));
let files = 0;
const write = (table: unknown) => {
  const file = join(folder, `${++files}.json`);
  writeFileSync(file, JSON.stringify(table));
  return file;
};

describe('prices', () => {
  let file: string;
  beforeAll(() => {
    file = write({
      date: '2026-11-01',
      models: [
        { model: 'swift', contextWindow: 1_000, prices: [{ input: 10, cached: 1, cacheWrite: 12, output: 50 }] },
        {
          model: 'swift-mini',
          prices: [
            { input: 1, output: 5 },
            { from: '2026-06-01', input: 2, output: 6 },
          ],
        },
      ],
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('count plain, cached and written input tokens separately', () => {
    const cost = readPrices(file).costOf('swift', '2026-11-01', [1_000_000, 500_000, 100_000, 10_000]);
    expect(cost).toBeCloseTo(0.4 * 10 + 0.5 * 1 + 0.1 * 12 + 0.01 * 50);
  });

  test.each([
    ['swift-mini-20261101', '2026-05-31', 1],
    ['swift-mini', '2026-06-01', 2],
    ['vendor/swift-mini', '2026-06-01', 2],
    ['us.anthropic.Swift-Mini-v1:0', '2026-06-01', 2],
    ['swift-maxi', '2026-06-01', 10],
    ['slow', '2026-06-01', undefined],
    ['', '2026-06-01', undefined],
  ])('of %s on %s are the prices of the longest matching name on that day: %s', (model, day, cost) => {
    expect(readPrices(file).costOf(model, day, [1_000_000, 0, 0, 0])).toBe(cost);
    expect(readPrices(file).priceOf(model, day)?.input).toBe(cost);
  });

  test('contain the size of a context, if it is known', () => {
    const prices = readPrices(file);
    expect([prices.contextWindowOf('swift-1'), prices.contextWindowOf('swift-mini')]).toEqual([
      { most: 1_000, usual: 1_000 },
      undefined,
    ]);
  });

  test('of the product are valid, and each name occurs once', () => {
    const prices = readPrices();
    expect(prices.costOf('claude-sonnet-5-5', '2026-10-06', [0, 0, 0, 0])).toBe(0);
    const read = (day: string) => prices.costOf('claude-sonnet-5-5', day, [1_000_000, 1_000_000, 0, 0]);
    expect([read('2026-10-06'), read('2026-10-07')]).toEqual([0.2, 0.1]);
    expect(prices.fingerprint).not.toBe(readPrices(file).fingerprint);
  });

  /** As Copilot CLI writes them. US dollars for a million tokens in and a million tokens out. */
  test.each([
    ['claude-opus-4.6', 30],
    ['claude-opus-4.5', 30],
    ['anthropic/claude-opus-4.6', 30],
    ['claude-sonnet-4.5', 18],
    ['claude-haiku-4.5', 6],
    ['claude-opus-5.5', 24],
    ['gpt-5.1-codex', 11.25],
    ['gemini-3-pro-preview', 14],
  ])('of %s, whose version is written with a dot, are those of its vendor', (model, cost) => {
    expect(readPrices().costOf(model, '2026-11-20', [1_000_000, 0, 0, 1_000_000])).toBe(cost);
  });

  test('that are invalid stop the service with a message that names the place', () => {
    const wrong = write({ date: '2026-11-01', models: [{ model: 'x', prices: [{ input: -1, output: 1 }] }] });
    expect(() => readPrices(wrong)).toThrow(
      /^PRICES_FILE .*\.json cannot .* not as expected: \/models\/0\/prices\/0\/input/,
    );
    writeFileSync(wrong, '{"date":');
    expect(() => readPrices(wrong)).toThrow(/^PRICES_FILE .*\.json cannot be used: .*JSON/);
    expect(() => readPrices(join(folder, 'none.json'))).toThrow(/^PRICES_FILE .*none\.json cannot be used: ENOENT/);
  });
});
