import { IDLE_MS } from './lane.ts';

/** A long pause: it is drawn short, but visibly as a pause. */
export interface Break {
  /** Its position on the axis, from 0 to 1. */
  from: number;
  to: number;
  durationMs: number;
}

/** Time from left to right. Long pauses are compressed, but never hidden. */
export interface Axis {
  start: number;
  end: number;
  breaks: readonly Break[];
  /** @returns 0 to 1 */
  place(time: number): number;
  timeAt(place: number): number;
}

/** Share of the width for each long pause, independent of its length. All pauses together get at most a third. */
const BREAK_SHARE = 0.015;
const MAX_BREAKS_SHARE = 0.33;

interface Stretch {
  start: number;
  end: number;
  from: number;
  to: number;
}

/** @param times in order, in epoch milliseconds */
export function createAxis(times: ArrayLike<number>): Axis {
  const stretches = readStretches(times);
  const active = stretches.reduce((sum, stretch) => sum + weightOf(stretch), 0);
  const pauses = Math.max(0, stretches.length - 1);
  const share = Math.min(BREAK_SHARE, pauses > 0 ? MAX_BREAKS_SHARE / pauses : 1);
  const pauseWidth = Math.max(1, active * share);
  const width = active + pauses * pauseWidth || 1;
  let at = 0;
  for (const stretch of stretches) {
    stretch.from = at / width;
    at += weightOf(stretch);
    stretch.to = at / width;
    at += pauseWidth;
  }
  const breaks = stretches.slice(1).map((stretch, index): Break => {
    const before = stretches[index] as Stretch;
    return { from: before.to, to: stretch.from, durationMs: stretch.start - before.end };
  });
  return {
    start: stretches[0]?.start ?? 0,
    end: stretches.at(-1)?.end ?? 0,
    breaks,
    place: (time) => Math.min(1, translate(stretches, time, 'start', 'end', 'from', 'to')),
    timeAt: (place) => translate(stretches, place, 'from', 'to', 'start', 'end'),
  };
}

/** The weight of a stretch on the axis. A single moment needs some width as well. */
const weightOf = ({ start, end }: Stretch): number => Math.max(1000, end - start);

function readStretches(times: ArrayLike<number>): Stretch[] {
  const stretches: Stretch[] = [];
  let last: Stretch | undefined;
  for (let index = 0; index < times.length; index++) {
    const time = times[index] as number;
    if (last && time - last.end <= IDLE_MS) last.end = Math.max(last.end, time);
    else {
      last = { start: time, end: time, from: 0, to: 0 };
      stretches.push(last);
    }
  }
  return stretches;
}

type Side = keyof Stretch;

/** Maps a value between times and positions. A value between two stretches maps to the start of the next one. */
function translate(stretches: readonly Stretch[], value: number, low: Side, high: Side, from: Side, to: Side): number {
  let [first, last] = [0, stretches.length - 1];
  while (first < last) {
    const middle = (first + last) >> 1;
    if ((stretches[middle] as Stretch)[high] < value) first = middle + 1;
    else last = middle;
  }
  const stretch = stretches[first];
  if (!stretch) return 0;
  const length = stretch[high] - stretch[low];
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, (value - stretch[low]) / length));
  return share === 1 ? stretch[to] : stretch[from] + share * (stretch[to] - stretch[from]);
}
