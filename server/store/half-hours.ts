/*
 * The half hours in which a session was active. They are stored in UTC. A day of any time zone is a range of them, because clocks
 * differ from UTC by half hours; in the few zones with quarters of an hour, a day begins and ends 15 minutes early.
 */

const HALF_HOUR_MS = 1_800_000;

/** The half hour of a time, such as `2026-11-28T14:30`. */
export const halfHourOf = (time: number): string =>
  new Date(Math.floor(time / HALF_HOUR_MS) * HALF_HOUR_MS).toISOString().slice(0, -8);
