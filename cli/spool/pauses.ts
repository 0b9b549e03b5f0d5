/** A stretch of this machine's clock; nothing that an agent wrote in it is captured, then or later. Milliseconds since 1970. */
export interface Pause {
  from: number;
  /** When it ends, or has ended; absent until a person ends it. */
  until?: number;
  /** The latest time that the clock had shown when it was set back meanwhile. */
  latest?: number;
  /** Whether a person has ended it. */
  isEnded?: boolean;
}

/** When a record was written, as far as that is known: not before `from`, not after `to`. Milliseconds since 1970. */
export interface WritingTime {
  from: number;
  to: number;
}

/** A clock that was wrong by years must not keep back what is written in the years to come. */
export const MOST_SET_BACK_MS = 86_400_000;

/** How often the time is noted during a pause, so that a clock that is set back is noticed also by the next process. */
export const NOTED_EVERY_MS = 10_000;

export const isActive = ({ until, isEnded }: Pause, now: number): boolean =>
  isEnded !== true && (until === undefined || now < until);

export const beginPause = (pauses: readonly Pause[], now: number, forMs: number | undefined): Pause[] => [
  ...endPauses(pauses, now),
  { from: now, ...(forMs !== undefined && { until: now + forMs }) },
];

/** Ends those that are active. */
export const endPauses = (pauses: readonly Pause[], now: number): Pause[] =>
  pauses.map((pause) => {
    if (!isActive(pause, now)) return pause;
    const latest = pause.latest === undefined ? now : pause.latest + NOTED_EVERY_MS;
    const until = Math.max(now, Math.min(latest, now + MOST_SET_BACK_MS));
    return { from: startOf(pause, now), until, isEnded: true };
  });

/**
 * Extends pauses where the clock was set back meanwhile: records of the pause may bear times from before it, and times that the
 * clock still does not show when the pause ends. `before` is the latest time that it has shown.
 */
export const followClock = (pauses: readonly Pause[], now: number, before: number): Pause[] =>
  pauses.map((pause) => {
    const isSetBack = now < Math.max(before, pause.from);
    if (!isActive(pause, now) || !isSetBack) return pause;
    return { ...pause, from: startOf(pause, now), latest: Math.max(before, pause.from, pause.latest ?? 0) };
  });

/** Set back to before the pause, the clock was so for a while when that is noticed. */
const startOf = ({ from }: Pause, now: number): number => (now < from ? now - MOST_SET_BACK_MS : from);

/** Whether something may have been written during a pause. */
export const isInPause = (pauses: readonly Pause[], { from, to }: WritingTime): boolean =>
  pauses.some((pause) => from < (pause.until ?? Number.POSITIVE_INFINITY) && to >= pause.from);

/** Whether a session that began then was there in a pause: then what repeats its earlier records may repeat some of the pause. */
export const mayRepeatPause = (pauses: readonly Pause[], startedAt: number): boolean =>
  isInPause(pauses, { from: startedAt, to: Number.POSITIVE_INFINITY });

/** Those of both. */
export function joinPauses(one: readonly Pause[], other: readonly Pause[]): Pause[] {
  const known = new Set(one.map((pause) => JSON.stringify(pause)));
  return [...one, ...other.filter((pause) => !known.has(JSON.stringify(pause)))];
}
