/** Of one event. Sums of such counts stay whole numbers of 32 bits. */
const MOST_COUNTED = 1_000_000;
const LARGEST = 2_147_483_647;

/** A sum that no event can make negative, or too large for its column. */
export const add = (one: number, other: number): number =>
  Math.min(LARGEST, one + Math.min(MOST_COUNTED, Math.max(0, Math.trunc(other))));

/** Takes back what `add` added. */
export const subtract = (one: number, other: number): number =>
  Math.max(0, one - Math.min(MOST_COUNTED, Math.max(0, Math.trunc(other))));
