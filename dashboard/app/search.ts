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

export const readFrameSearch = ({ plane }: Given): FrameSearch =>
  plane === 'test' || plane === 'all' ? { plane } : {};

export const readSessionsSearch = ({ q, order, direction, compare }: Given): SessionsSearch => ({
  ...(isText(q) && { q: q.slice(0, MAX_QUERY) }),
  ...(isOneOf(ORDERS, order) && order !== 'started' && { order }),
  ...(direction === 'asc' && { direction }),
  ...(isText(compare) && { compare }),
});

/** The service refuses a longer query. */
const MAX_QUERY = 1_000;

export const readSessionSearch = ({ e, find, from, to, show, lane, view }: Given): SessionSearch => ({
  ...(isSequence(e) && { e: Number(e) }),
  ...(isText(find) && { find }),
  ...(isSequence(from) && isSequence(to) && Number(from) <= Number(to) && { from: Number(from), to: Number(to) }),
  ...(isText(show) && { show }),
  ...(isText(lane) && { lane }),
  ...(isOneOf(SESSION_VIEWS, view) && { view }),
});

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

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const isOneOf = <const Value>(values: readonly Value[], value: unknown): value is Value =>
  values.includes(value as Value);
const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
