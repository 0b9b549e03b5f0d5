import { calcPrice, type ModelPrice, type PriceCalculation } from '@pydantic/genai-prices';
import type { Price } from '../../../transcript/entry/cost.ts';
import { nameOfTerms, type Usage } from '../../../transcript/entry/usage.ts';
import { readModelName } from './model-name.ts';
import { OVERRIDES } from './overrides.ts';
import { readPriceList } from './price-list.ts';
import type { DatedPrice, PriceRow } from './price-row.ts';
import { findTerms } from './terms.ts';

/** The price of a response. */
export interface Priced {
  price: Price;
  /** The length of a prompt in tokens, above which the price holds; absent if it holds for the shortest prompts. */
  above?: number;
  /**
   * The most tokens that a prompt and its answer have together, if the price depends on the length of the prompt. A report with more
   * tokens is the sum of several responses. Their lengths are unknown, so they have the price of the shortest prompts.
   */
  upTo?: number;
  /** The terms whose price is not known, so that the normal price was taken. */
  unknown?: string;
}

/** `input` includes cached tokens. @returns undefined if no price is known */
export type PriceOf = (model: string, day: string, terms: string, response: Response) => Priced | undefined;

type Response = Pick<Usage, 'input' | 'output'>;

export interface Prices {
  priceOf: PriceOf;
  /**
   * The number of tokens in the model's context. `usual` applies if the session did not request `most`. Undefined if unknown.
   */
  contextWindowOf(model: string): Window | undefined;
}

/** A context window, in tokens. */
interface Window {
  most: number;
  usual: number;
}

/** Prices by the length of the prompt, the shortest first. */
type Steps = readonly Priced[];

/** The window of a Claude session that did not request a larger one. */
const USUAL_WINDOW = 200_000;
const MAX_KNOWN = 2_000;

/** @param file as for `readPriceList` */
export function readPrices(file?: string): Prices {
  const tables = [readPriceList(file).rows, OVERRIDES].map((rows) =>
    rows.toSorted((one, other) => other.model.length - one.model.length),
  );
  const known = new Map<string, Steps>();
  const windows = new Map<string, Window | undefined>();

  function stepsOf(model: string, day: string, terms: string): Steps {
    const key = `${day} ${terms} ${model}`;
    const steps = known.get(key) ?? findSteps(tables, model, day, terms).map((step) => within(step, windowOf(model)));
    if (known.size > MAX_KNOWN) known.clear();
    known.set(key, steps);
    return steps;
  }

  return {
    priceOf: (model, day, terms, { input, output }) =>
      stepsOf(model, day, terms).findLast(
        ({ above, upTo = Number.POSITIVE_INFINITY }) =>
          above === undefined || (input > above && input + output <= upTo),
      ),
    contextWindowOf: windowOf,
  };

  function windowOf(model: string): Window | undefined {
    if (windows.has(model)) return windows.get(model);
    if (windows.size > MAX_KNOWN) windows.clear();
    const found = findWindow(model);
    windows.set(model, found);
    return found;
  }

  function findWindow(model: string): Window | undefined {
    const { name } = readModelName(model);
    const row = tables.map((rows) => findRow(rows, name)).find((row) => row?.contextWindow !== undefined);
    const most = row?.contextWindow ?? find(name, TODAY)?.model.context_window;
    if (most === undefined) return undefined;
    const usual = name.startsWith('claude-') ? Math.min(most, USUAL_WINDOW) : most;
    return { most, usual: row?.usualWindow ?? usual };
  }
}

/** The window of a Claude model that had a larger one on request, which the list does not have. */
const LARGER_WINDOW = 1_000_000;

function within(step: Priced, window: { most: number } | undefined): Priced {
  if (step.above === undefined || window === undefined) return step;
  return { ...step, upTo: window.most > step.above ? window.most : LARGER_WINDOW };
}

/** A model has the same window on every day. */
const TODAY = '2026-11-28';

function findSteps(tables: readonly PriceRow[][], model: string, day: string, given: string): Steps {
  const { name, terms } = readModelName(model);
  const row = tables.map((rows) => findRow(rows, name)).find((row) => row !== undefined && row.prices.length > 0);
  const plain = row ? stepsOfRow(row, day) : stepsOfLibrary(find(name, day)?.model_price);
  const all = [...new Set([given, nameOfTerms(terms)].flatMap((term) => term.split('+')))].filter(
    (term) => term !== '',
  );
  return plain.map((step) => under(step, all, name, row));
}

/** The row with the longest beginning of the name. Another version is another model: `gpt-5` is not the row of `gpt-5.1`. */
const findRow = (rows: readonly PriceRow[], name: string): PriceRow | undefined =>
  rows.find(({ model }) => {
    const isOtherVersion = /\d$/.test(model) && /^[-.]?\d/.test(name.slice(model.length));
    return name.startsWith(model) && !isOtherVersion;
  });

function stepsOfRow({ prices }: PriceRow, day: string): Steps {
  const dated = prices.toSorted((one, other) => ((one.from ?? '') < (other.from ?? '') ? -1 : 1));
  const price = dated.findLast(({ from = '' }) => from <= day) ?? dated[0];
  if (!price) return [];
  const { webSearch } = price;
  const searches = webSearch === undefined ? {} : { webSearch };
  const first = { price: { ...priceOfRow(price), ...searches } };
  return price.long ? [first, { price: { ...priceOfRow(price.long), ...searches }, above: price.long.above }] : [first];
}

function priceOfRow({ input, output, ...given }: Omit<DatedPrice, 'from' | 'long'>): Price {
  const { cached = input, cacheWrite = input, cacheWrite1h = cacheWrite } = given;
  return { input, cached, cacheWrite, cacheWrite1h, output };
}

/** Vendors whose own list the library has under another name than the one that it takes for the model. */
const VENDORS: readonly [begins: string, provider: string][] = [['glm-', 'zai']];

/** A price that depends on the time of day is the one at noon in UTC. */
function find(name: string, day: string): PriceCalculation | undefined {
  const timestamp = new Date(`${day}T12:00:00Z`);
  const vendor = VENDORS.find(([begins]) => name.startsWith(begins))?.[1];
  for (const model of [name, `${name}-preview`]) {
    const found =
      (vendor && calcPrice({}, model, { timestamp, providerId: vendor })) || calcPrice({}, model, { timestamp });
    if (found) return found;
  }
  return undefined;
}

function stepsOfLibrary(prices: ModelPrice | undefined): Steps {
  if (!prices || prices.input_mtok === undefined || prices.output_mtok === undefined) return [];
  const { input_mtok, cache_read_mtok, cache_write_mtok, cache_write_1h_mtok, output_mtok, web_searches_kcount } =
    prices;
  const all = [input_mtok, cache_read_mtok, cache_write_mtok, cache_write_1h_mtok, output_mtok];
  const starts = new Set(
    all.flatMap((price) => (typeof price === 'object' ? price.tiers.map(({ start }) => start) : [])),
  );
  return [undefined, ...[...starts].sort((one, other) => one - other)].map((above): Priced => {
    const at = (price: ModelPrice[string]): number | undefined =>
      typeof price === 'object'
        ? (price.tiers.findLast(({ start }) => above !== undefined && start <= above)?.price ?? price.base)
        : price;
    const [input = 0, cached, cacheWrite, cacheWrite1h, output = 0] = all.map(at);
    const webSearch = at(web_searches_kcount);
    const row = { input, output, cached, cacheWrite, cacheWrite1h };
    const given = Object.fromEntries(Object.entries(row).filter(([, price]) => price !== undefined)) as typeof row;
    return {
      price: { ...priceOfRow(given as DatedPrice), ...(webSearch !== undefined && { webSearch }) },
      ...(above !== undefined && { above }),
    };
  });
}

/** Multiplies the prices of tokens by what the terms cost. */
function under({ price, above }: Priced, terms: readonly string[], name: string, row: PriceRow | undefined): Priced {
  let times = 1;
  const unknown: string[] = [];
  for (const term of terms) {
    const found = findTerms(term, name);
    const own = row?.times?.[term];
    if (own !== undefined) times *= own;
    else if (found && (above === undefined || found.isForLongPrompts)) times *= found.times;
    else unknown.push(term);
  }
  const { webSearch, ...tokens } = price;
  const multiplied = Object.fromEntries(
    Object.entries(tokens).map(([kind, dollars]) => [kind, Math.round(dollars * times * 1e6) / 1e6]),
  ) as unknown as Price;
  return {
    price: { ...multiplied, ...(webSearch !== undefined && { webSearch }) },
    ...(above !== undefined && { above }),
    ...(unknown.length > 0 && { unknown: unknown.join('+') }),
  };
}
