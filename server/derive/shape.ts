import type { Shape } from './facts.ts';

/** The number of kept slices. The few slices that are shown are computed from them. */
const KEPT = 192;
const SHOWN = 48;

/**
 * Adds an event at `offset` ms after the first one. If the event is beyond the last slice, the width of the slices is doubled
 * until it fits.
 */
export function addToShape(shape: Shape, offset: number, of: 'work' | 'failures'): void {
  const at = Math.max(0, offset);
  while (at >= shape.width * KEPT) {
    shape.width *= 2;
    shape.work = inPairs(shape.work);
    shape.failures = inPairs(shape.failures);
  }
  const index = Math.floor(at / shape.width);
  const counts = shape[of];
  while (counts.length <= index) counts.push(0);
  counts[index] = (counts[index] ?? 0) + 1;
}

const inPairs = (counts: readonly number[]): number[] =>
  Array.from({ length: Math.ceil(counts.length / 2) }, (_, i) => (counts[2 * i] ?? 0) + (counts[2 * i + 1] ?? 0));

/** 48 equal slices of the duration, each with its work and failures. */
export function shapeOf(shape: Shape, durationMs: number): [work: number, failures: number][] {
  const slices = Array.from({ length: SHOWN }, (): [number, number] => [0, 0]);
  for (const [column, counts] of [shape.work, shape.failures].entries()) {
    for (const [index, count] of counts.entries()) {
      const at = durationMs > 0 ? Math.floor(((index + 0.5) * shape.width * SHOWN) / durationMs) : 0;
      const slice = slices[Math.min(SHOWN - 1, at)];
      if (slice) slice[column as 0 | 1] += count;
    }
  }
  return slices;
}
