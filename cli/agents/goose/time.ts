/** Milliseconds of a time as Goose writes it: seconds, of some versions milliseconds, or text in UTC without saying so. */
export function toTime(value: unknown): number | undefined {
  if (typeof value === 'number') return value < FIRST_MILLISECONDS ? value * 1000 : value;
  if (typeof value !== 'string') return undefined;
  const time = Date.parse(/^[\d-]+ [\d:.]+$/.test(value) ? `${value.replace(' ', 'T')}Z` : value);
  return Number.isNaN(time) ? undefined : time;
}

/** As seconds, in the year 2286. */
const FIRST_MILLISECONDS = 10_000_000_000;
