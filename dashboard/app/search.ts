import type { AddOnKind } from '../../contract/entry/add-on.ts';
import type { DIMENSIONS as ALL_DIMENSIONS, ORDERS as ALL_ORDERS } from '../../contract/review.ts';

/** The query strings of the pages, read leniently: what makes no sense is as if it were not there. */

export interface FrameSearch {
  /** Absent: live. */
  plane?: 'test' | 'all' | undefined;
}

export type Order = (typeof ALL_ORDERS)[number];
export type Dimension = (typeof ALL_DIMENSIONS)[number];

// Those of the contract. Its values would bring its schemas along, and those weigh more than this page.
const ORDERS = [
  'started',
  'duration',
  'events',
  'failures',
  'changes',
  'tokens',
  'cost',
  'redactions',
] satisfies Order[];
export const DIMENSIONS = ['agent', 'model', 'repository', 'environment', 'person'] satisfies Dimension[];
const ADD_ON_KINDS = ['mcp', 'skill', 'subagent', 'plugin'] satisfies AddOnKind[];

const VIEWS = ['changes', 'story', 'agents'] as const;

export interface SessionsSearch {
  /** In the language of `contract/query.ts`. */
  q?: string | undefined;
  /** Absent: by start. */
  order?: Order | undefined;
  /** Absent: the largest first. */
  direction?: 'asc' | undefined;
  /** The session to compare with another one, which is to be picked from the list. */
  compare?: string | undefined;
}

export interface SessionSearch {
  /** The event that is looked at, by its sequence number. */
  e?: number | undefined;
  /** The words that led there. */
  find?: string | undefined;
  /** A range of events, which the strip shows closer. */
  from?: number | undefined;
  to?: number | undefined;
  /** Kinds of rows, separated by commas; absent: all but records. */
  show?: string | undefined;
  /** Only this sub-agent. */
  lane?: string | undefined;
  /** In place of the timeline; the prompts where there is no room for them beside it. */
  view?: (typeof VIEWS)[number] | undefined;
}

export interface AuditSearch {
  action?: string | undefined;
  /** Id of the person who did it. */
  actor?: string | undefined;
}

export interface HoldsSearch {
  /** The session to place a hold on. */
  session?: string | undefined;
}

export interface OverviewSearch {
  /** So many days until today; absent: 30, or what `from` and `to` say. */
  days?: 7 | 90 | undefined;
  /** First and last day, UTC. */
  from?: string | undefined;
  to?: string | undefined;
  /** What figures are told apart by; absent: by agent. */
  by?: Exclude<Dimension, 'agent'> | undefined;
}

export interface AddOnsSearch extends Pick<OverviewSearch, 'days' | 'from' | 'to'> {
  /** Absent: all. */
  kind?: AddOnKind | undefined;
}

export interface DeviceSearch {
  /** The code that a terminal shows. */
  code?: string | undefined;
}

type Given = Record<string, unknown>;

export const readFrameSearch = ({ plane }: Given): FrameSearch =>
  plane === 'test' || plane === 'all' ? { plane } : {};

export const readSessionsSearch = ({ q, order, direction, compare }: Given): SessionsSearch => ({
  ...(isText(q) && { q: q.slice(0, MOST_QUERY) }),
  ...(isOneOf(ORDERS, order) && order !== 'started' && { order }),
  ...(direction === 'asc' && { direction }),
  ...(isText(compare) && { compare }),
});

/** The service takes no longer query. */
const MOST_QUERY = 1_000;

export const readSessionSearch = ({ e, find, from, to, show, lane, view }: Given): SessionSearch => ({
  ...(isSequence(e) && { e: Number(e) }),
  ...(isText(find) && { find }),
  ...(isSequence(from) && isSequence(to) && Number(from) <= Number(to) && { from: Number(from), to: Number(to) }),
  ...(isText(show) && { show }),
  ...(isText(lane) && { lane }),
  ...(isOneOf(VIEWS, view) && { view }),
});

/** Two sessions, to be laid side by side. */
export interface CompareSearch {
  one?: string | undefined;
  other?: string | undefined;
}

export const readCompareSearch = ({ one, other }: Given): CompareSearch => ({
  ...(isText(one) && { one }),
  ...(isText(other) && { other }),
});

const isSequence = (value: unknown): boolean => Number.isSafeInteger(Number(value)) && Number(value) > 0;

export function readOverviewSearch({ days, from, to, by }: Given): OverviewSearch {
  const isRange = isDay(from) && isDay(to) && from <= to;
  return {
    ...(isRange && { from, to }),
    ...(!isRange && String(days) === '7' && { days: 7 }),
    ...(!isRange && String(days) === '90' && { days: 90 }),
    ...(isOneOf(DIMENSIONS, by) && by !== 'agent' && { by }),
  };
}

export const readAddOnsSearch = ({ kind, ...given }: Given): AddOnsSearch => {
  const { by: _, ...days } = readOverviewSearch(given);
  return { ...days, ...(isOneOf(ADD_ON_KINDS, kind) && { kind }) };
};

export const readAuditSearch = ({ action, actor }: Given): AuditSearch => ({
  // What is no action is refused by the page, which knows them.
  ...(isText(action) && { action }),
  ...(isText(actor) && { actor }),
});

export const readHoldsSearch = ({ session }: Given): HoldsSearch => (isText(session) ? { session } : {});

export const readDeviceSearch = ({ code }: Given): DeviceSearch => (isText(code) ? { code } : {});

/** A query string as it stands in the address: every value is a text, and none is taken for JSON. */
export const parseSearch = (text: string): Given => Object.fromEntries(new URLSearchParams(text));

/** The other way; what is undefined is left out. */
export function stringifySearch(search: Given): string {
  const given = Object.entries(search).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const isOneOf = <const Value>(values: readonly Value[], value: unknown): value is Value =>
  values.includes(value as Value);
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
