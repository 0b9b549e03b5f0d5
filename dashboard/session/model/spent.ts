import type { Entry } from '../../../contract/entry/entry.ts';
import { costAt, createUsageSum, type Usage, type UsageTotals } from '../../../contract/entry/usage.ts';
import type { SessionFacts } from '../../../contract/review.ts';

/** Tokens of some responses by day and model, which is how they are priced. */
export type Spent = Map<string, Usage>;

const DAY_MS = 86_400_000;
const keyOf = (day: string, model: string) => `${day} ${model}`;

/** By how much a report raises which tokens: a response may be reported several times. */
export interface Report {
  entry: Entry;
  key: string;
  grown: Usage;
}

/** What the entries tell of tokens, as they come. */
export function createSpending() {
  const sum = createUsageSum();
  const reports: Report[] = [];
  const keys = new Map<string | undefined, string>();
  let model = '';
  let day = '';
  let dayNumber = -1;
  return {
    reports,
    usage: (): UsageTotals => ({ total: { ...sum.total }, byResponse: sum.byResponse }),
    add(entry: Entry): void {
      const named = modelOf(entry);
      if (named && !named.startsWith('<')) model = named;
      const usage = entry.kind === 'usage' ? entry.usage : entry.echo?.usage;
      if (!usage) return;
      const { responseId, model: own = model } = usage;
      const known = responseId === undefined ? undefined : keys.get(responseId);
      // A session has many responses a day, and dates are slow.
      const number = Math.floor(Math.max(0, entry.time) / DAY_MS);
      if (number !== dayNumber) day = new Date(number * DAY_MS).toISOString().slice(0, 10);
      dayNumber = number;
      const key = known ?? keyOf(day, own);
      if (responseId !== undefined) keys.set(responseId, key);
      reports.push({ entry, key, grown: sum.add(usage) });
    },
  };
}

/** As the service has it: what says no model is of the one before. */
function modelOf(entry: Entry): string | undefined {
  if (entry.kind === 'usage') return entry.usage.model;
  if (entry.kind === 'meta') return entry.lane === undefined ? entry.facts.model : undefined;
  return 'model' in entry ? entry.model : undefined;
}

export function addTo(spent: Spent, { key, grown }: Report): void {
  const { input, output, cacheRead, cacheWrite, reasoning } = grown;
  const before = spent.get(key) ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  spent.set(key, {
    input: before.input + input,
    output: before.output + output,
    cacheRead: before.cacheRead + cacheRead,
    cacheWrite: before.cacheWrite + cacheWrite,
    reasoning: before.reasoning + reasoning,
  });
}

/** Tokens read, cached ones included, and written. */
export const tokensIn = (spent: Spent): number =>
  [...spent.values()].reduce((sum, each) => sum + each.input + each.output, 0);

/** US dollars at the prices that the service knows; undefined where it knows none. */
export function costOfSpent(spent: Spent, usage: SessionFacts['usage'] | undefined): number | undefined {
  const prices = new Map(usage?.map(({ day, model, price }) => [keyOf(day, model), price]));
  const costs = [...spent].flatMap(([key, tokens]) => {
    const price = prices.get(key);
    return price ? [costAt(price, tokens)] : [];
  });
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}
