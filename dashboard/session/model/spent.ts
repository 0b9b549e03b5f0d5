import { costAt, type Price, toDollars } from '../../../contract/entry/cost.ts';
import type { Entry } from '../../../contract/entry/entry.ts';
import { type Models, modelFor, noteModels } from '../../../contract/entry/models.ts';
import { noteTold, type Tellings, usagesOf } from '../../../contract/entry/told.ts';
import {
  createUsageSum,
  type Growth,
  nameOfTerms,
  type Usage,
  type UsageTotals,
} from '../../../contract/entry/usage.ts';
import type { SessionFacts } from '../../../contract/review.ts';

/** A report of a response, with what decides its price. A response may be reported several times. */
export interface Report extends Growth {
  entry: Entry;
  /** The day, the terms and the model. */
  key: string;
}

/** The reports of a part of the session. */
export type Spent = Report[];

const DAY_MS = 86_400_000;
const keyOf = (day: string, terms: string, model: string) => `${day} ${terms} ${model}`;

/** Collects the tokens of entries, entry by entry. */
export function createSpending() {
  const sum = createUsageSum();
  const reports: Report[] = [];
  const keys = new Map<string | undefined, string>();
  const models: Models = { laneModels: new Map() };
  const tellings: Tellings = { settings: new Map() };
  let day = '';
  let dayNumber = -1;
  return {
    reports,
    usage: (): UsageTotals => ({ total: { ...sum.total }, byResponse: sum.byResponse }),
    add(entry: Entry): void {
      // As in the service, a response without a model belongs to the model that its sub-agent or the session named last.
      noteModels(models, entry);
      noteTold(tellings, entry);
      const usages = usagesOf(tellings, entry);
      if (usages.length === 0) return;
      // The day is computed once for many responses, since formatting dates is slow.
      const number = Math.floor(Math.max(0, entry.time) / DAY_MS);
      if (number !== dayNumber) day = new Date(number * DAY_MS).toISOString().slice(0, 10);
      dayNumber = number;
      for (const usage of usages) {
        const { responseId, model: own = modelFor(models, entry.lane) ?? '' } = usage;
        const known = responseId === undefined ? undefined : keys.get(responseId);
        const key = known ?? keyOf(day, nameOfTerms(usage), own);
        if (responseId !== undefined) keys.set(responseId, key);
        reports.push({ entry, key, ...sum.add(usage) });
      }
    },
  };
}

const tokensOf = ({ input, output }: Usage): number => input + output;

/** Input tokens, including cached ones, and output tokens. */
export const tokensIn = (spent: Spent): number =>
  spent.reduce((sum, { before, after }) => sum + tokensOf(after) - (before ? tokensOf(before) : 0), 0);

/** A price, and the length of the prompt above which it holds. */
type Step = Pick<SessionFacts['usage'][number], 'price' | 'above'>;

/**
 * The cost in US dollars, at the prices that the service knows; undefined if it knows none. The service computes the cost of a
 * session in the same way.
 */
export function costOfSpent(spent: Spent, usage: SessionFacts['usage'] | undefined): number | undefined {
  const steps = Map.groupBy<string, Step & { key: string }>(
    (usage ?? []).map(({ day, model, terms, ...step }) => ({ key: keyOf(day, terms, model), ...step })),
    ({ key }) => key,
  );
  const priceOf = (key: string, { input }: Usage): Price | undefined =>
    steps
      .get(key)
      ?.filter(({ above }) => above === undefined || input > above)
      .reduce<Step | undefined>((last, step) => ((step.above ?? 0) >= (last?.above ?? 0) ? step : last), undefined)
      ?.price;
  const costs = spent.flatMap(({ key, before, after }) => {
    const price = priceOf(key, after);
    const earlier = before && priceOf(key, before);
    return price ? [costAt(price, after) - (before && earlier ? costAt(earlier, before) : 0)] : [];
  });
  return costs.length === 0 ? undefined : toDollars(costs.reduce((sum, cost) => sum + cost, 0));
}
