import type { Milestone } from '../../contract/review.ts';
import { formatDuration } from '../kit/format.ts';
import { pixels } from '../kit/pixels.ts';
import type { Kind } from './model/kinds.ts';
import { boundContext, countKinds, LANE_ROWS, type Strip, testStretches } from './model/strip.ts';

/** Positions from the top, in CSS pixels. */
const PINS = 6;
const TOP = 14;
const BASE = 58;
const DOTS = 63;
/** The height of the plot. Sub-agents and dates are below it. */
const plotHeight = () => pixels('--strip-plot');
const LANE_PX = 4;
const TESTS_PX = 2;
/** The height of a commit's tick on the axis. */
const COMMIT_PX = 5;
/** Room at both ends for the first and the last mark. */
export const INSET_PX = 4;
const AXIS_PX = 20;

/** Kinds that are stacked, from the base upwards; prompts and failures have marks of their own. */
const STACKED: readonly Kind[] = ['read', 'run', 'web', 'edit', 'subagent', 'reasoning', 'answer'];

export interface Drawing {
  strip: Strip;
  width: number;
  /** The size of the model's context in tokens, if known. */
  contextWindow: number | undefined;
  milestones: readonly Milestone[];
  /** The part of the session that is drawn. */
  range: { from: number; to: number } | undefined;
}

/** The height of the whole strip, in CSS pixels. */
export const heightOf = ({ lanes, hiddenRows }: Strip): number => {
  const rows = Math.min(LANE_ROWS, Math.max(0, ...lanes.map(({ row }) => row + 1)));
  return plotHeight() + (rows > 0 ? rows * (LANE_PX + 1) + 2 : 0) + (hiddenRows > 0 ? 10 : 0) + AXIS_PX;
};

/** Draws the strip. */
export function drawStrip(
  canvas: HTMLCanvasElement,
  { strip, width, contextWindow, milestones, range }: Drawing,
): void {
  const scale = window.devicePixelRatio || 1;
  const height = heightOf(strip);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (!context) return;
  const color = createColors(canvas);
  context.scale(scale, scale);
  context.translate(INSET_PX, 0);
  const room = width - 2 * INSET_PX;
  const x = (time: number) => strip.axis.place(time) * room;

  context.strokeStyle = color('--line');
  line(context, 0, BASE + 0.5, room, BASE + 0.5);
  drawWork(context, strip, room, scale, color);
  drawBreaks(context, strip, room, color);
  drawContext(context, strip, room, contextWindow, color);
  for (const { from, to, passed } of testStretches(strip, milestones, range)) {
    context.fillStyle = color(passed ? '--ok' : '--bad');
    context.fillRect(from * room, BASE, Math.max(1, (to - from) * room), TESTS_PX);
  }
  drawPrompts(context, strip, x, room, color);
  drawFailures(context, strip, x, color);
  context.fillStyle = color('--kind-subagent');
  for (const { start, end, row } of strip.lanes) {
    context.fillRect(x(start), plotHeight() + row * (LANE_PX + 1), Math.max(2, x(end) - x(start)), LANE_PX);
  }
  context.fillStyle = color('--muted');
  context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  if (strip.hiddenRows > 0) context.fillText(`+${strip.hiddenRows} more sub-agents at once`, 0, height - AXIS_PX - 1);
  drawDates(context, strip, room, height);
  context.fillStyle = color('--text');
  for (const { kind, sequence } of milestones) {
    const isInside = !range || (sequence >= range.from && sequence <= range.to);
    if (kind === 'commit' && isInside) {
      context.fillRect(x(strip.timeOf(sequence)) - 1, height - AXIS_PX - COMMIT_PX, 2, COMMIT_PX);
    }
  }
}

type Colors = (name: string) => string;

/** Colours of the theme in a form that the canvas understands. */
function createColors(canvas: HTMLCanvasElement): Colors {
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    canvas.style.color = `var(${name})`;
    const value = getComputedStyle(canvas).color;
    known.set(name, value);
    return value;
  };
}

function line(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/** The height of a column grows with the square root of the count, so that one busy moment does not flatten the rest. */
function drawWork(context: CanvasRenderingContext2D, strip: Strip, width: number, scale: number, color: Colors): void {
  // A column is two pixels of the device wide, since a single call would be hard to see in one pixel.
  const columns = Math.max(1, Math.floor((width * scale) / 2));
  const counts = countKinds(strip, columns, STACKED);
  const totals = Array.from({ length: columns }, (_, at) => counts.reduce((sum, row) => sum + (row[at] ?? 0), 0));
  const most = Math.max(1, ...totals);
  const room = BASE - TOP;
  const column = width / columns;
  for (const [index, kind] of STACKED.entries()) {
    context.fillStyle = color(`--kind-${kind}`);
    for (let at = 0; at < columns; at++) {
      const count = counts[index]?.[at] ?? 0;
      const total = totals[at] ?? 0;
      if (count === 0) continue;
      const full = Math.max(3, room * Math.sqrt(total / most));
      let below = 0;
      for (let each = 0; each < index; each++) below += counts[each]?.[at] ?? 0;
      context.fillRect(at * column, BASE - (full * (below + count)) / total, column, (full * count) / total);
    }
  }
}

function drawBreaks(context: CanvasRenderingContext2D, { axis }: Strip, width: number, color: Colors): void {
  context.strokeStyle = color('--muted');
  context.fillStyle = color('--muted');
  context.font = '11px sans-serif';
  context.setLineDash([2, 3]);
  for (const { from, to, durationMs } of axis.breaks) {
    const [left, right] = [from * width, to * width];
    line(context, (left + right) / 2, TOP - 6, (left + right) / 2, BASE);
    const words = shortDuration(durationMs);
    if (right - left > context.measureText(words).width + 4) context.fillText(words, left + 2, TOP + 2);
  }
  context.setLineDash([]);
}

const shortDuration = (milliseconds: number) => formatDuration(milliseconds).replace(/ \d+ (?:min|s)$/, '');

/**
 * Draws the fill of the model's context: it rises with each response and drops at a compaction. A hairline marks its limit.
 * If the limit is unknown, the largest fill is the scale, and there is no hairline.
 */
function drawContext(
  context: CanvasRenderingContext2D,
  strip: Strip,
  room: number,
  contextWindow: number | undefined,
  color: Colors,
): void {
  const fullest = strip.context.reduce((max, { tokens }) => Math.max(max, tokens), 1);
  const most = contextWindow ?? fullest;
  context.strokeStyle = color('--context');
  if (contextWindow !== undefined && strip.context.length > 0) {
    context.globalAlpha = 0.4;
    line(context, 0, TOP + 0.5, room, TOP + 0.5);
    context.globalAlpha = 1;
  }
  const top = (tokens: number) => BASE - (BASE - TOP) * Math.min(1, tokens / most);
  context.fillStyle = color('--context');
  // For each pixel, a band from the least to the greatest fill. With thousands of responses, a line would cover the plot.
  for (const [at, band] of boundContext(strip, Math.max(1, Math.round(room))).entries()) {
    if (band) context.fillRect(at, top(band.most) - 0.75, 1, top(band.least) - top(band.most) + 1.5);
  }
}

/** More pins than this would be a fence, so the prompts of each slice become a column. */
const MAX_PINS = 200;
const SLICE_PX = 4;
/** Marks that are closer than this are drawn as one, since hundreds of marks would form a meaningless band. */
const APART_PX = { person: 5, failure: 4 };

type Place = (time: number) => number;

function drawPrompts(context: CanvasRenderingContext2D, strip: Strip, x: Place, room: number, color: Colors): void {
  context.fillStyle = context.strokeStyle = color('--kind-person');
  const prompts = strip.marks.filter(({ kind }) => kind === 'person');
  if (prompts.length > MAX_PINS) {
    const [counts = []] = countKinds(strip, Math.max(1, Math.floor(room / SLICE_PX)), ['person']);
    const most = Math.max(1, ...counts);
    for (const [at, count] of counts.entries()) {
      const height = count === 0 ? 0 : 2 + (TOP - 4) * Math.sqrt(count / most);
      context.fillRect(at * SLICE_PX, TOP - height, SLICE_PX - 1, height);
    }
    return;
  }
  for (const left of apart(prompts, x, APART_PX.person)) {
    dot(context, left, PINS, 2.5);
    line(context, left, PINS, left, TOP);
  }
}

function drawFailures(context: CanvasRenderingContext2D, strip: Strip, x: Place, color: Colors): void {
  context.fillStyle = color('--kind-failure');
  const failures = strip.marks.filter(({ kind }) => kind === 'failure');
  for (const left of apart(failures, x, APART_PX.failure)) dot(context, left, DOTS, 1.5);
}

function* apart(marks: Strip['marks'], x: Place, distance: number): Generator<number> {
  let last = Number.NEGATIVE_INFINITY;
  for (const { time } of marks) {
    const left = x(time);
    if (left - last < distance) continue;
    last = left;
    yield left;
  }
}

function dot(context: CanvasRenderingContext2D, left: number, top: number, radius: number): void {
  context.beginPath();
  context.arc(left, top, radius, 0, 2 * Math.PI);
  context.fill();
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
/** For a shorter axis, labels need seconds to differ. */
const SHORT_MS = 20 * 60_000;
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
/** The distance between two labels. */
const LABEL_PX = 110;

/** Labels with the time, and with the day wherever it differs from the label before. */
function drawDates(context: CanvasRenderingContext2D, { axis }: Strip, width: number, height: number): void {
  if (axis.end < 1e11) return;
  let [day, before] = ['', ''];
  let free = 0;
  const count = Math.max(1, Math.floor(width / LABEL_PX));
  const { format } = axis.end - axis.start < SHORT_MS ? exact : clock;
  for (let at = 0; at <= count; at++) {
    const time = axis.timeAt(at / count);
    const told = format(time);
    const isNewDay = date.format(time) !== day;
    if (told === before && !isNewDay) continue;
    const words = isNewDay ? `${date.format(time)} ${told}` : told;
    const room = context.measureText(words).width;
    const left = Math.max(0, Math.min(width - room, (at / count) * width - room / 2));
    if (left < free) continue;
    [day, before] = [date.format(time), told];
    context.fillText(words, left, height - 4);
    free = left + room + 8;
  }
}
