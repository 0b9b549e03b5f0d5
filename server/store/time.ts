import { Problem } from '../../contract/problem.ts';

/** Milliseconds since the epoch, as stored, to the wire's ISO-8601. */
export const toTimestamp = (time: number): string => new Date(time).toISOString();

/** Beyond these a year no longer has four digits. */
const FIRST = Date.parse('0000-01-01T00:00:00.000Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The wire's ISO-8601 to milliseconds since the epoch; a leap second counts as the one before it.
 * @throws Problem `validation_failed` for what is no time of the years 0000 to 9999
 */
export function fromTimestamp(text: string): number {
  const time = Date.parse(text.replace(/:60(?=[.zZ+-])/, ':59'));
  if (time >= FIRST && time <= LAST) return time;
  throw new Problem('validation_failed', `${text} is no time in the years 0000 to 9999 of UTC. Send one.`);
}

/** `{ [name]: timestamp }`, or nothing where the time is unknown: absent fields are left out of answers. */
export const optionalTimestamp = <const Name extends string>(name: Name, time: number | null) =>
  (time === null ? {} : { [name]: toTimestamp(time) }) as { [Key in Name]?: string };

/** `{ [name]: value }`, or nothing for null. */
export const optional = <const Name extends string, Value>(name: Name, value: Value | null) =>
  (value === null ? {} : { [name]: value }) as { [Key in Name]?: Value };
