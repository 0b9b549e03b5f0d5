/** A day of the calendar: the epoch milliseconds at which it begins in UTC. */
export type Day = number;

/** The calendar of a time zone. */
export interface Calendar {
  /** The day that the clock shows at a time. */
  dayAt(time: number): Day;
  /** When a day begins, in epoch milliseconds. It ends when the next one begins, 23 to 25 hours later if the clock is changed. */
  startOf(day: Day): number;
}

export const DAY_MS = 86_400_000;

/** No clock differs from UTC by more. */
const MAX_DIFFERENT_MS = 16 * 3_600_000;

/**
 * The calendar of an IANA time zone.
 * @returns undefined if there is no zone with this name
 */
export function calendarOf(zone: string): Calendar | undefined {
  const format = formatOf(zone);
  if (!format) return undefined;

  function dayAt(time: number): Day {
    const parts = new Map(format?.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    return new Date(0).setUTCFullYear(parts.get('year') ?? 0, (parts.get('month') ?? 1) - 1, parts.get('day'));
  }

  // An offset from UTC would not do: at the midnight before a change of the clock, it is another one than at noon.
  function startOf(day: Day): number {
    let [before, begun] = [day - MAX_DIFFERENT_MS, day + MAX_DIFFERENT_MS];
    while (begun - before > 1) {
      const middle = Math.floor((before + begun) / 2);
      if (dayAt(middle) < day) before = middle;
      else begun = middle;
    }
    return begun;
  }
  return { dayAt, startOf };
}

/** Programs that name no zone get the days of UTC. */
export const UTC: Calendar = {
  dayAt: (time) => Math.floor(time / DAY_MS) * DAY_MS,
  startOf: (day) => day,
};

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: 'numeric', day: 'numeric' });
  } catch {
    return undefined;
  }
}
