/**
 * A stretch of this machine's time, in milliseconds since 1970. No record that an agent wrote in it is captured, then or
 * later.
 */
export interface Pause {
  from: number;
  /** When the pause ends or has ended. Absent until a person ends it. */
  until?: number;
  /** The latest time that the clock had shown when it was set back during the pause. */
  latest?: number;
  /** Whether a person has ended it. */
  isEnded?: boolean;
}

/** The known range of a record's writing time: not before `from`, not after `to`. Milliseconds since 1970. */
export interface WritingTime {
  from: number;
  to: number;
}

/** A clock that was wrong by years must not make the records of the years to come stay here. */
export const MAX_SET_BACK_MS = 86_400_000;

/** How often the time is stored during a pause, so that the next process also notices a clock that was set back. */
export const NOTED_EVERY_MS = 10_000;

export const isActive = ({ until, isEnded }: Pause, now: number): boolean =>
  isEnded !== true && (until === undefined || now < until);

export const beginPause = (pauses: readonly Pause[], now: number, forMs: number | undefined): Pause[] => [
  ...endPauses(pauses, now),
  { from: now, ...(forMs !== undefined && { until: now + forMs }) },
];

/** Ends the active pauses. */
export const endPauses = (pauses: readonly Pause[], now: number): Pause[] =>
  pauses.map((pause) => {
    if (!isActive(pause, now)) return pause;
    const latest = pause.latest === undefined ? now : pause.latest + NOTED_EVERY_MS;
    const until = Math.max(now, Math.min(latest, now + MAX_SET_BACK_MS));
    return { from: startOf(pause, now), until, isEnded: true };
  });

/**
 * Extends a pause if the clock was set back during it. Records of the pause may have times from before it, or times that the
 * clock still has not reached when the pause ends. `before` is the latest time that the clock has shown.
 */
export const followClock = (pauses: readonly Pause[], now: number, before: number): Pause[] =>
  pauses.map((pause) => {
    const isSetBack = now < Math.max(before, pause.from);
    if (!isActive(pause, now) || !isSetBack) return pause;
    return { ...pause, from: startOf(pause, now), latest: Math.max(before, pause.from, pause.latest ?? 0) };
  });

/**
 * When capture continues after the pauses that a person has ended. Undefined if it has continued already. It has not if the
 * clock was set back: then new records still have times of an ended pause.
 */
export function continuesAt(pauses: readonly Pause[], now: number): number | undefined {
  const ends = pauses.flatMap(({ from, until = 0, isEnded }) =>
    isEnded === true && from <= now && now < until ? [until] : [],
  );
  return ends.length === 0 ? undefined : Math.max(...ends);
}

/** If the clock now shows a time before the pause, it may have been set back for a while already. */
const startOf = ({ from }: Pause, now: number): number => (now < from ? now - MAX_SET_BACK_MS : from);

/** The union of two lists of pauses. */
export function joinPauses(one: readonly Pause[], other: readonly Pause[]): Pause[] {
  const known = new Set(one.map((pause) => JSON.stringify(pause)));
  return [...one, ...other.filter((pause) => !known.has(JSON.stringify(pause)))];
}
