/** Thrown where a record has used up its time. */
export class OverBudget extends Error {}

/** Bounds the time for one record. Work between two steps is small: a window of text, a keyword, a string. */
export interface Budget {
  /** Starts anew. */
  start(ms: number): void;
  /** Throws `OverBudget` once the time is up. */
  step(): void;
  /** Steps since the start: the same on every machine, so tests count them rather than milliseconds. */
  steps(): number;
}

/** The clock is asked at every so many steps: asking costs about as much as a step. */
const STEPS_PER_LOOK = 16;

/** `elapsed` tells milliseconds and never goes back. */
export function createBudget(elapsed: () => number): Budget {
  let steps = 0;
  let end = Number.POSITIVE_INFINITY;
  return {
    start(ms) {
      steps = 0;
      end = elapsed() + ms;
    },
    step() {
      steps++;
      if (steps % STEPS_PER_LOOK === 0 && elapsed() > end) throw new OverBudget();
    },
    steps: () => steps,
  };
}
