import { ADD_ON_KINDS, DIMENSIONS, ORDERS } from '../../contract/names.ts';
import {
  type AddOnsSearch,
  type AuditSearch,
  type CompareSearch,
  type DeviceSearch,
  type FrameSearch,
  type HoldsSearch,
  type OverviewSearch,
  SESSION_VIEWS,
  type SessionSearch,
  type SessionsSearch,
} from '../../contract/pages.ts';

/** Reads the query strings of the pages leniently: invalid values are ignored. */

type Given = Record<string, unknown>;

/** The router keeps given values that a reader leaves out. So each given name without a valid value gets none. */
const reader =
  <Search extends object>(names: readonly (keyof Search & string)[], read: (given: Given) => Search) =>
  (given: Given): Search => ({
    ...(Object.fromEntries(names.flatMap((name) => (name in given ? [[name, undefined]] : []))) as Partial<Search>),
    ...read(given),
  });

export const readFrameSearch = reader<FrameSearch>(['plane'], ({ plane }) =>
  plane === 'test' || plane === 'all' ? { plane } : {},
);

export const readSessionsSearch = reader<SessionsSearch>(
  ['q', 'order', 'direction', 'compare'],
  ({ q, order, direction, compare }) => ({
    ...(isText(q) && { q: q.slice(0, MAX_QUERY) }),
    ...(isOneOf(ORDERS, order) && order !== 'started' && { order }),
    ...(direction === 'asc' && { direction }),
    ...(isText(compare) && { compare }),
  }),
);

/** The service refuses a longer query. */
const MAX_QUERY = 1_000;

export const readSessionSearch = reader<SessionSearch>(
  ['e', 'find', 'from', 'to', 'show', 'lane', 'view'],
  ({ e, find, from, to, show, lane, view }) => ({
    ...(isSequence(e) && { e: Number(e) }),
    ...(isText(find) && { find }),
    ...(isSequence(from) && isSequence(to) && Number(from) <= Number(to) && { from: Number(from), to: Number(to) }),
    ...(isText(show) && { show }),
    ...(isText(lane) && { lane }),
    ...(isOneOf(SESSION_VIEWS, view) && { view }),
  }),
);

export const readCompareSearch = reader<CompareSearch>(['one', 'other'], ({ one, other }) => ({
  ...(isText(one) && { one }),
  ...(isText(other) && { other }),
}));

const isSequence = (value: unknown): boolean => Number.isSafeInteger(Number(value)) && Number(value) > 0;

export const readOverviewSearch = reader<OverviewSearch>(['days', 'from', 'to', 'by'], ({ days, from, to, by }) => {
  const isRange = isDay(from) && isDay(to) && from <= to;
  return {
    ...(isRange && { from, to }),
    ...(!isRange && String(days) === '7' && { days: 7 }),
    ...(!isRange && String(days) === '90' && { days: 90 }),
    ...(isOneOf(DIMENSIONS, by) && by !== 'agent' && { by }),
  };
});

export const readAddOnsSearch = reader<AddOnsSearch>(['kind'], ({ kind, ...given }) => {
  const { by: _, ...days } = readOverviewSearch(given);
  return { ...days, ...(isOneOf(ADD_ON_KINDS, kind) && { kind }) };
});

export const readAuditSearch = reader<AuditSearch>(['action', 'actor'], ({ action, actor }) => ({
  // The page knows the actions, and ignores an unknown one.
  ...(isText(action) && { action }),
  ...(isText(actor) && { actor }),
}));

export const readHoldsSearch = reader<HoldsSearch>(['session'], ({ session }) => (isText(session) ? { session } : {}));

export const readDeviceSearch = reader<DeviceSearch>(['code'], ({ code }) => (isText(code) ? { code } : {}));

/** Parses a query string. Every value is a text, and no value is parsed as JSON. */
export const parseSearch = (text: string): Given => Object.fromEntries(new URLSearchParams(text));

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const isOneOf = <const Value>(values: readonly Value[], value: unknown): value is Value =>
  values.includes(value as Value);
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
