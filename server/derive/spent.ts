import { hash } from 'node:crypto';
import { type Counts, costAt } from '../../transcript/entry/cost.ts';
import type { Entry } from '../../transcript/entry/entry.ts';
import { modelFor } from '../../transcript/entry/models.ts';
import { nameOfTerms, type Usage } from '../../transcript/entry/usage.ts';
import { type CountedResponse, type Day, type Facts, keep, type Spent, type Tokens } from './facts.ts';
import type { Priced, PriceOf } from './prices/prices.ts';
import { addKey, hasKey, type KeyForm } from './seen-keys.ts';

/** The most that one session can make others keep. */
const MOST = { responses: 100, models: 50 };
/**
 * 36 bits are enough to distinguish thousands of responses. A sub-agent's file may begin with a copy of hundreds of responses of its
 * parent session.
 */
const COUNTED: KeyForm = { length: 6, most: 2_000 };
/** The limit for one event. It keeps sums of tokens whole numbers. */
const MAX_TOKENS = 1_000_000_000;
/** The bytes of the numbers of a sum. */
const BESIDE = 280;

export const NO_TOKENS: Readonly<Tokens> = [0, 0, 0, 0, 0, 0];
export const noSpent = (): Spent => ({ tokens: [...NO_TOKENS], cost: 0, unpriced: 0 });

export const countsOf = ([input, cacheRead, cacheWrite, cacheWrite1h, output, webSearches]: Tokens): Counts => {
  return { input, cacheRead, cacheWrite, cacheWrite1h, output, webSearches };
};

/** The key of a sum. Neither the terms nor the length contain a space. */
const keyOf = (terms: string, above: number | undefined, model: string) =>
  `${above === undefined ? terms : `${terms}>${above}`} ${model}`;
/** The key of the sum of the models that have none of their own. */
const OTHERS = keyOf('', undefined, '');

export function readKey(key: string): { terms: string; model: string } {
  const [terms = ''] = key.split(/[> ]/, 1);
  return { terms, model: key.slice(key.indexOf(' ') + 1) };
}

/** What one response costs. */
interface Charge {
  priced: Priced | undefined;
  tokens: Tokens;
  cost: number;
  unpriced: number;
}

function chargeOf(priceOf: PriceOf, day: string, model: string, terms: string, tokens: Tokens): Charge {
  const [input, , , , output] = tokens;
  const priced = priceOf(model, day, terms, { input, output });
  return {
    priced,
    tokens,
    cost: priced === undefined ? 0 : costAt(priced.price, countsOf(tokens)),
    unpriced: priced === undefined ? input + output : 0,
  };
}

/** Null if no price is known for any of it. A zero would hide that. */
export const costOfSpent = ({ tokens: [input, , , , output], cost, unpriced }: Omit<Spent, 'price'>): number | null =>
  cost > 0 || input + output > unpriced ? cost : null;

export function addSpent(
  to: Spent,
  { tokens, cost, unpriced }: Pick<Spent, 'tokens' | 'cost' | 'unpriced'>,
  times: 1 | -1 = 1,
): void {
  for (const [at, count] of tokens.entries()) to.tokens[at] = (to.tokens[at] ?? 0) + times * count;
  to.cost += times * cost;
  to.unpriced += times * unpriced;
}

/**
 * Adds a response to the sums of its day. Agents report a response several times, sometimes with another response in between. Its
 * largest figures count, and its first report decides the day, the model and the terms.
 * @param today the day of the report
 * @param begin the sums of that day, if there is room for them
 * @returns what the response cost before the report and after it; undefined if it was counted before
 */
export function addUsage(
  facts: Facts,
  { lane }: Pick<Entry, 'lane'>,
  usage: Usage,
  priceOf: PriceOf,
  today: string,
  begin: () => Day | undefined,
): { sums: Day | undefined; model: string; before: Charge; after: Charge } | undefined {
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, webSearches, responseId } = usage;
  const told = [input, cacheRead, cacheWrite, cacheWrite1h, output, webSearches].map((count) =>
    Math.min(MAX_TOKENS, Math.trunc(count)),
  ) as Tokens;
  const id = responseId === undefined ? undefined : hash('sha256', responseId, 'base64url').slice(0, 12);
  const known = id === undefined ? undefined : facts.responses.get(id);
  if (id !== undefined && !known && hasKey(facts.counted, id, COUNTED)) return undefined;
  const [day, place, model, terms, ...counted]: CountedResponse = known ?? [
    today,
    null,
    usage.model ?? modelFor(facts, lane) ?? '',
    nameOfTerms(usage),
    ...NO_TOKENS,
  ];
  const sums = known ? facts.days.get(day) : begin();
  const before = chargeOf(priceOf, day, model, terms, counted);
  const largest = told.map((count, at) => Math.max(count, counted[at] ?? 0)) as Tokens;
  const after = chargeOf(priceOf, day, model, terms, largest);
  const from = place === null ? undefined : sums?.models.get(place);
  if (from) addSpent(from, before, -1);
  const [key, to] = sumFor(facts, sums, after, model, terms);
  if (to) addSpent(to, after);
  if (id !== undefined) remember(facts, id, [day, to ? key : null, model, terms, ...largest]);
  return { sums, model, before, after };
}

function sumFor(
  facts: Facts,
  sums: Day | undefined,
  { priced }: Charge,
  model: string,
  terms: string,
): [key: string, sum: Spent | undefined] {
  const key = keyOf(terms, priced?.above, model);
  if (!sums) return [key, undefined];
  const make = (): Spent => ({ ...noSpent(), ...priced });
  const own = keep(facts, sums.models, key, MOST.models, make, BESIDE);
  return own ? [key, own] : [OTHERS, keep(facts, sums.models, OTHERS, MOST.models + 1, noSpent, 0)];
}

function remember(facts: Facts, id: string, response: CountedResponse): void {
  facts.responses.delete(id);
  facts.responses.set(id, response);
  for (const oldest of facts.responses.keys()) {
    if (facts.responses.size <= MOST.responses) break;
    facts.responses.delete(oldest);
    facts.counted = addKey(facts.counted, oldest, COUNTED);
  }
}
