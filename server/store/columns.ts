import { Problem } from '../../contract/problem.ts';

/** Converts stored epoch milliseconds to the ISO 8601 of the wire. */
export const toTimestamp = (time: number): string => new Date(time).toISOString();

/** The range of years with four digits. */
const FIRST = Date.parse('0000-01-01T00:00:00.000Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Converts the ISO 8601 of the wire to epoch milliseconds; a leap second counts as the second before it.
 * @throws Problem `validation_failed` unless the text is a time in the years 0000 to 9999
 */
export function fromTimestamp(text: string): number {
  const time = Date.parse(text.replace(/:60(?=[.zZ+-])/, ':59'));
  if (time >= FIRST && time <= LAST) return time;
  throw new Problem('validation_failed', `${text} is not a time in the years 0000 to 9999 (UTC).`);
}

/** `{ [name]: timestamp }`, or `{}` for null, because responses leave out unknown fields. */
export const optionalTimestamp = <const Name extends string>(name: Name, time: number | null) =>
  (time === null ? {} : { [name]: toTimestamp(time) }) as { [Key in Name]?: string };

/** `{ [name]: value }`, or `{}` for null. */
export const optional = <const Name extends string, Value>(name: Name, value: Value | null) =>
  (value === null ? {} : { [name]: value }) as { [Key in Name]?: Value };

/**
 * The key by which accounts, invitations and members with an e-mail are found. Only the letters A to Z are folded: Unicode folds
 * the Kelvin sign to k as well, so that somebody else's address would be the same.
 */
export const emailKey = (email: string): string => email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Replaces the characters that an engine cannot store: PostgreSQL refuses NUL, and UTF-8 has no lone surrogates. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');
