import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { costAt, type Price as TokenPrice } from '../../contract/entry/usage.ts';
import type { Facts, Tokens } from './facts.ts';

/** US dollars for a million tokens, from a day on. */
const Price = Type.Object({
  /** Absent: from the beginning on. */
  from: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  input: Type.Number({ minimum: 0 }),
  cached: Type.Optional(Type.Number({ minimum: 0 })),
  cacheWrite: Type.Optional(Type.Number({ minimum: 0 })),
  output: Type.Number({ minimum: 0 }),
});

const PriceTable = Type.Object({
  /** The day of the last review. */
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  models: Type.Array(
    Type.Object({
      /** The beginning of the model's name, without the prefix of a gateway. The longest match counts. */
      model: Type.String(),
      contextWindow: Type.Optional(Type.Integer({ minimum: 1 })),
      /** The window of sessions that did not request the larger one. */
      usualWindow: Type.Optional(Type.Integer({ minimum: 1 })),
      prices: Type.Array(Price),
    }),
  ),
});
type PriceTable = Static<typeof PriceTable>;

export interface Prices {
  /** The day of the table's last review, YYYY-MM-DD. */
  date: string;
  /** Distinguishes this table from others. */
  fingerprint: string;
  /** The cost of a million tokens on a day; undefined if no price is known. */
  priceOf(model: string, day: string): TokenPrice | undefined;
  /** US dollars; undefined if no price is known. */
  costOf(model: string, day: string, tokens: Tokens): number | undefined;
  /**
   * The number of tokens in the model's context. `usual` applies if the session did not request `most`. Undefined if unknown.
   */
  contextWindowOf(model: string): { most: number; usual: number } | undefined;
}

const OWN = new URL('./prices.json', import.meta.url);

/**
 * @param file replaces the product's own file
 * @throws Error that says what is wrong with the file
 */
export function readPrices(file?: string): Prices {
  const [text, table] = readTable(file);
  const sorted = table.models.toSorted((one, other) => other.model.length - one.model.length);
  const known = new Map<string, PriceTable['models'][number] | undefined>();

  function find(model: string) {
    if (!known.has(model)) {
      if (known.size > 1_000) known.clear();
      const name = nameOf(model);
      known.set(
        model,
        sorted.find((entry) => name.startsWith(entry.model)),
      );
    }
    return known.get(model);
  }

  function priceOf(model: string, day: string): TokenPrice | undefined {
    const prices = find(model)?.prices ?? [];
    const price = prices.findLast(({ from = '' }) => from <= day) ?? prices[0];
    if (!price) return undefined;
    const { input, output, cached = input, cacheWrite = input } = price;
    return { input, cached, cacheWrite, output };
  }

  return {
    date: table.date,
    fingerprint: hash('sha256', text),
    priceOf,
    costOf(model, day, [input, cacheRead, cacheWrite, output]) {
      const price = priceOf(model, day);
      return price && costAt(price, { input, cacheRead, cacheWrite, output });
    },
    contextWindowOf(model) {
      const { contextWindow: most, usualWindow: usual = most } = find(model) ?? {};
      return most === undefined || usual === undefined ? undefined : { most, usual };
    },
  };
}

function readTable(file?: string): [text: string, table: PriceTable] {
  try {
    const text = readFileSync(file ?? OWN, 'utf8');
    return [text, parse(text)];
  } catch (error) {
    throw new Error(`PRICES_FILE ${file} cannot be used: ${(error as Error).message}`);
  }
}

function parse(text: string): PriceTable {
  const table: unknown = JSON.parse(text);
  const [error] = Value.Errors(PriceTable, table);
  if (error) throw new Error(`the prices are not as expected: ${error.instancePath} ${error.message}`);
  const { date, models } = table as PriceTable;
  const byDay = (one: { from?: string }, other: { from?: string }) => ((one.from ?? '') < (other.from ?? '') ? -1 : 1);
  return { date, models: models.map((entry) => ({ ...entry, prices: entry.prices.toSorted(byDay) })) };
}

/**
 * `us.anthropic.claude-…`, `openrouter/anthropic/claude-…`, `models/gemini-…` are the models behind them. Copilot CLI and gateways
 * write `claude-opus-4.6` for `claude-opus-4-6`.
 */
const nameOf = (model: string) =>
  model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:(?:us|eu|apac|global)\.)?(?:anthropic|openai|google|qwen|deepseek|moonshotai|moonshot|xai)\./, '')
    .replace(/^claude-.*/, (name) => name.replace(/(?<=\d)\.(?=\d)/g, '-'));

/** The cost of a session; null if no price is known for any of it. */
export function costOfFacts(facts: Facts, costOf: Prices['costOf']): number | null {
  // A known model without tokens does not make the cost zero: a zero would hide that the rest has no known price.
  const costs = [...facts.days].flatMap(([day, { models }]) =>
    [...models]
      .filter(([, [input, , , output]]) => input + output > 0)
      .map(([model, tokens]) => costOf(model, day, tokens)),
  );
  const known = costs.filter((cost) => cost !== undefined);
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0);
}
