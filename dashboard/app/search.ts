import type { DIMENSIONS as ALL_DIMENSIONS, ORDERS as ALL_ORDERS } from '../../contract/review.ts';
import type { AddOnKind } from '../../transcript/entry/add-on.ts';

/** The query strings of the pages. They are read leniently: invalid values are ignored. */

export interface FrameSearch {
  /** Absent: live. */
  plane?: 'test' | 'all' | undefined;
}

export type Order = (typeof ALL_ORDERS)[number];
export type Dimension = (typeof ALL_DIMENSIONS)[number];

// Copies of the contract's values: importing them would bring the schemas along, which weigh more than this page.
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
  /** The session to compare with another one, which the person picks from the list. */
  compare?: string | undefined;
}

export interface SessionSearch {
  /** The sequence number of the current event. */
  e?: number | undefined;
  /** The search that led to the event. */
  find?: string | undefined;
  /** A range of events that the strip zooms to. */
  from?: number | undefined;
  to?: number | undefined;
  /** Kinds of rows, separated by commas; absent: all but records. */
  show?: string | undefined;
  /** Only this sub-agent. */
  lane?: string | undefined;
  /** The view that replaces the timeline. `story`: the outline, if there is no room for it beside the timeline. */
  view?: (typeof VIEWS)[number] | undefined;
}

export interface AuditSearch {
  action?: string | undefined;
  /** Id of the person who acted. */
  actor?: string | undefined;
}

export interface HoldsSearch {
  /** The session to place a hold on. */
  session?: string | undefined;
}

export interface OverviewSearch {
  /** The number of days up to today; absent: 30, or the range of `from` and `to`. */
  days?: 7 | 90 | undefined;
  /** First and last day, UTC. */
  from?: string | undefined;
  to?: string | undefined;
  /** The dimension of the figures; absent: agent. */
  by?: Exclude<Dimension, 'agent'> | undefined;
}

export interface AddOnsSearch extends Pick<OverviewSearch, 'days' | 'from' | 'to'> {
  /** Absent: all. */
  kind?: AddOnKind | undefined;
}

export interface DeviceSearch {
  /** The user code that a terminal shows. */
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

/** The service refuses a longer query. */
const MOST_QUERY = 1_000;

export const readSessionSearch = ({ e, find, from, to, show, lane, view }: Given): SessionSearch => ({
  ...(isSequence(e) && { e: Number(e) }),
  ...(isText(find) && { find }),
  ...(isSequence(from) && isSequence(to) && Number(from) <= Number(to) && { from: Number(from), to: Number(to) }),
  ...(isText(show) && { show }),
  ...(isText(lane) && { lane }),
  ...(isOneOf(VIEWS, view) && { view }),
});

/** The two sessions to compare. */
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
  // The page knows the actions, and ignores an unknown one.
  ...(isText(action) && { action }),
  ...(isText(actor) && { actor }),
});

export const readHoldsSearch = ({ session }: Given): HoldsSearch => (isText(session) ? { session } : {});

export const readDeviceSearch = ({ code }: Given): DeviceSearch => (isText(code) ? { code } : {});

/** Parses a query string. Every value is a text, and no value is parsed as JSON. */
export const parseSearch = (text: string): Given => Object.fromEntries(new URLSearchParams(text));

/** Formats a query string; undefined values are left out. */
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
