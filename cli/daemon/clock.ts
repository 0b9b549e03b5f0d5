export interface ClockOptions {
  /** Milliseconds since 1970, which may be set. */
  now: () => number;
  /** Milliseconds of a clock that is never set; on some systems it stands still while the machine sleeps. */
  tick: () => number;
}

/** More than a clock is slewed by, or a busy machine is late by. */
const JUMP_MS = 10_000;
const LATE_MS = 30_000;

/** Notices that the machine has slept, or that its clock was set. */
export function createClock({ now, tick }: ClockOptions) {
  let last = tick();
  let difference = now() - last;

  return {
    /** Whether that happened since it was asked last; `pausedMs` is how long ago that was meant to be. */
    hasJumped(pausedMs: number): boolean {
      const at = tick();
      const isLate = at - last > pausedMs + LATE_MS;
      const isSet = Math.abs(now() - at - difference) > JUMP_MS;
      last = at;
      difference = now() - at;
      return isLate || isSet;
    },
  };
}
