/** Milliseconds since the epoch, as stored, to the wire's ISO-8601. */
export const toTimestamp = (time: number): string => new Date(time).toISOString();

/** The wire's ISO-8601 to milliseconds since the epoch; a leap second counts as the one before it. */
export const fromTimestamp = (text: string): number => Date.parse(text.replace(/:60(?=[.zZ+-])/, ':59'));

/** `{ [name]: timestamp }`, or nothing where the time is unknown: absent fields are left out of answers. */
export const optionalTimestamp = <const Name extends string>(name: Name, time: number | null) =>
  (time === null ? {} : { [name]: toTimestamp(time) }) as { [Key in Name]?: string };

/** `{ [name]: value }`, or nothing for null. */
export const optional = <const Name extends string, Value>(name: Name, value: Value | null) =>
  (value === null ? {} : { [name]: value }) as { [Key in Name]?: Value };
