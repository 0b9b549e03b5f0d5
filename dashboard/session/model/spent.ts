import type { Entry } from '../../../contract/entry/entry.ts';
import { type Models, modelFor, noteModels } from '../../../contract/entry/models.ts';
import { costAt, createUsageSum, type Usage, type UsageTotals } from '../../../contract/entry/usage.ts';
import type { SessionFacts } from '../../../contract/review.ts';

/** Tokens of responses by day and model, since prices depend on both. */
export type Spent = Map<string, Usage>;

const DAY_MS = 86_400_000;
const keyOf = (day: string, model: string) => `${day} ${model}`;

/** The tokens that a report adds. A response may be reported several times. */
export interface Report {
  entry: Entry;
  key: string;
  grown: Usage;
}

/** Collects the tokens of entries, entry by entry. */
export function createSpending() {
  const sum = createUsageSum();
  const reports: Report[] = [];
  const keys = new Map<string | undefined, string>();
  const models: Models = { laneModels: new Map() };
  let day = '';
  let dayNumber = -1;
  return {
    reports,
    usage: (): UsageTotals => ({ total: { ...sum.total }, byResponse: sum.byResponse }),
    add(entry: Entry): void {
      // As in the service, a response without a model belongs to the model that its sub-agent or the session named last.
      noteModels(models, entry);
      const usage = entry.kind === 'usage' ? entry.usage : entry.echo?.usage;
      if (!usage) return;
      const { responseId, model: own = modelFor(models, entry.lane) ?? '' } = usage;
      const known = responseId === undefined ? undefined : keys.get(responseId);
      // The day is computed once for many responses, since formatting dates is slow.
      const number = Math.floor(Math.max(0, entry.time) / DAY_MS);
      if (number !== dayNumber) day = new Date(number * DAY_MS).toISOString().slice(0, 10);
      dayNumber = number;
      const key = known ?? keyOf(day, own);
      if (responseId !== undefined) keys.set(responseId, key);
      reports.push({ entry, key, grown: sum.add(usage) });
    },
  };
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

/** Input tokens, including cached ones, and output tokens. */
export const tokensIn = (spent: Spent): number =>
  [...spent.values()].reduce((sum, each) => sum + each.input + each.output, 0);

/** The cost in US dollars, at the prices that the service knows; undefined if it knows none. */
export function costOfSpent(spent: Spent, usage: SessionFacts['usage'] | undefined): number | undefined {
  const prices = new Map(usage?.map(({ day, model, price }) => [keyOf(day, model), price]));
  const costs = [...spent].flatMap(([key, tokens]) => {
    const price = prices.get(key);
    return price ? [costAt(price, tokens)] : [];
  });
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}
