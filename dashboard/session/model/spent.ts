import type { SessionFacts } from '../../../contract/review.ts';
import { costAt, toDollars } from '../../../transcript/entry/cost.ts';
import type { Entry } from '../../../transcript/entry/entry.ts';
import { type Models, modelFor, noteModels } from '../../../transcript/entry/models.ts';
import { noteTold, type Tellings, usagesOf } from '../../../transcript/entry/told.ts';
import {
  createUsageSum,
  type Growth,
  nameOfTerms,
  type Usage,
  type UsageTotals,
} from '../../../transcript/entry/usage.ts';

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

type UsageRow = SessionFacts['usage'][number];

/** Finds the row with the price of a response. */
function createFinder(usage: SessionFacts['usage'] | undefined) {
  const rows = Map.groupBy(usage ?? [], ({ day, terms, model }) => keyOf(day, terms, model));
  return (key: string, { input, output }: Usage): UsageRow | undefined =>
    rows
      .get(key)
      ?.filter(
        ({ above, upTo = Number.POSITIVE_INFINITY }) =>
          above === undefined || (input > above && input + output <= upTo),
      )
      .reduce<UsageRow | undefined>((last, row) => ((row.above ?? 0) >= (last?.above ?? 0) ? row : last), undefined);
}

/**
 * The cost in US dollars, at the prices that the service knows; undefined if it knows none. The service computes the cost of a
 * session in the same way.
 */
export function costOfSpent(spent: Spent, usage: SessionFacts['usage'] | undefined): number | undefined {
  const find = createFinder(usage);
  const costs = spent.flatMap(({ key, before, after }) => {
    const price = find(key, after)?.price;
    const earlier = before && find(key, before)?.price;
    return price ? [costAt(price, after) - (before && earlier ? costAt(earlier, before) : 0)] : [];
  });
  return costs.length === 0 ? undefined : toDollars(costs.reduce((sum, cost) => sum + cost, 0));
}

/** The counts of a part of the session, in the rows of the session: by day, model, terms and length of the prompt. */
export function rowsOfSpent(spent: Spent, usage: SessionFacts['usage'] | undefined): UsageRow[] {
  const find = createFinder(usage);
  const rows = new Map<UsageRow, UsageRow>();
  const add = (key: string, counts: Usage, times: 1 | -1) => {
    const row = find(key, counts);
    if (!row) return;
    const sum = rows.get(row) ?? { ...row, ...NO_COUNTS };
    rows.set(row, {
      ...sum,
      inputTokens: sum.inputTokens + times * counts.input,
      cachedTokens: sum.cachedTokens + times * counts.cacheRead,
      cacheWriteTokens: sum.cacheWriteTokens + times * counts.cacheWrite,
      cacheWrite1hTokens: sum.cacheWrite1hTokens + times * counts.cacheWrite1h,
      outputTokens: sum.outputTokens + times * counts.output,
      webSearches: sum.webSearches + times * counts.webSearches,
    });
  };
  for (const { key, before, after } of spent) {
    add(key, after, 1);
    if (before) add(key, before, -1);
  }
  return [...rows.values()];
}

const NO_COUNTS = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  webSearches: 0,
};
