import { parseExact } from '../../exact.ts';
import type { JsonObject } from '../agent.ts';
import { isObject } from './part.ts';

/** For agents that keep JSON documents: takes them apart into records without losing a leaf. */

/** An array's objects. Any other element becomes a record. */
export const recordsOf = (values: readonly unknown[]): JsonObject[] =>
  values.map((value) => (isObject(value) ? value : { value }));

/** Copies an object into two: one with the named fields, and one with the others. */
export function partition(object: JsonObject, names: ReadonlySet<string>): { named: JsonObject; others: JsonObject } {
  const isNamed = ([name]: [string, unknown]) => names.has(name);
  const entries = Object.entries(object);
  // `fromEntries` treats `__proto__` like any other field, as `JSON.parse` does.
  return {
    named: Object.fromEntries(entries.filter(isNamed)),
    others: Object.fromEntries(entries.filter((entry) => !isNamed(entry))),
  };
}

/** Agents write JSON into texts. A text is unfolded if folding it again gives exactly the same text. */
export function unfold(text: unknown): unknown {
  if (typeof text !== 'string' || !/^\s*[{[]/.test(text)) return text;
  try {
    const value = parseExact(text);
    return JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}

/** A time as agents in JavaScript store it, in milliseconds since 1970. Undefined if the value is not a time. */
export function toTimestamp(time: unknown): string | undefined {
  const isTime = typeof time === 'number' && time > 0 && time <= LATEST;
  return isTime ? new Date(time).toISOString() : undefined;
}

/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;
