import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale';
import { line, stack } from 'd3-shape';
import type { Range } from '../shared/series-slots.ts';
import type { Series } from './series.ts';

interface Mark {
  series: Series;
  slot: number;
  y: number;
  height: number;
}

/** The positions of all parts of a plot, in pixels from its upper left corner. */
export interface PlotLayout {
  /** Left edge and width of each slot's bar. */
  columns: readonly { x: number; width: number }[];
  bars: readonly Mark[];
  /** The path and the points of each series that is drawn as a line. */
  lines: readonly { series: Series; path: string; points: readonly { slot: number; x: number; y: number }[] }[];
  ticks: readonly { value: number; y: number }[];
  days: readonly { time: number; x: number }[];
  /** The outline of the period before, as a path; empty without one. */
  ghost: string;
}

/** Least distance between labels of days. */
const DAY_LABEL = 72;
/** Every bar with a value stays visible. */
const MIN_BAR = 1;

export function layOutPlot(
  series: readonly Series[],
  slots: readonly Range[],
  width: number,
  shape: 'bars' | 'line',
  { height, ghost = [], isWhole = false }: { height: number; ghost?: readonly number[]; isWhole?: boolean },
): PlotLayout {
  const band = scaleBand<number>()
    .domain(slots.keys())
    .range([0, width])
    .paddingInner(slots.length > 60 ? 0.1 : 0.25);
  const sums = slots.map((_, slot) => series.reduce((sum, { values }) => sum + (values[slot] ?? 0), 0));
  const most = Math.max(0, ...sums, ...ghost);
  const y = scaleLinear()
    .domain([0, most || 1])
    .nice(3)
    .range([height, 0]);
  const columns = slots.map((_, slot) => ({ x: band(slot) ?? 0, width: band.bandwidth() }));
  const centre = (slot: number) => (band(slot) ?? 0) + band.bandwidth() / 2;
  const drawn = line<number | undefined>()
    .defined((value) => value !== undefined)
    .x((_, slot) => centre(slot))
    .y((value) => y(value ?? 0));
  return {
    columns,
    bars: shape === 'bars' ? stackBars(series, slots.length, y) : [],
    lines:
      shape === 'line'
        ? series.map((each) => ({
            series: each,
            path: drawn([...each.values]) ?? '',
            points: each.values.flatMap((value, slot) =>
              value === undefined ? [] : [{ slot, x: centre(slot), y: y(value) }],
            ),
          }))
        : [],
    ticks: (most === 0 ? [0] : y.ticks(3))
      .filter((value) => !isWhole || Number.isInteger(value))
      .map((value) => ({ value, y: y(value) })),
    days: layOutDays(slots, width, centre),
    ghost: ghost
      .slice(0, columns.length)
      .map((value, slot) => {
        const { x = 0, width: wide = 0 } = columns[slot] ?? {};
        return value === 0 ? '' : `M${x} ${height}V${y(value)}h${wide}V${height}`;
      })
      .join(''),
  };
}

function stackBars(series: readonly Series[], count: number, y: (value: number) => number): Mark[] {
  const layers = stack<unknown, number, number>()
    .keys(series.keys())
    .value((_, key, slot) => series[key]?.values[slot] ?? 0)(Array.from({ length: count }));
  return layers.flatMap((layer) =>
    layer.flatMap(([from, to], slot) => {
      const each = series[layer.key];
      if (!each || to === from) return [];
      const height = Math.max(MIN_BAR, y(from) - y(to));
      return [{ series: each, slot, y: y(from) - height, height }];
    }),
  );
}

/** The days that label the plot, as many as there is room for. */
function layOutDays(slots: readonly Range[], width: number, centre: (slot: number) => number) {
  const [first, last] = [slots[0], slots.at(-1)];
  if (!first || !last) return [];
  const most = Math.max(1, Math.floor(width / DAY_LABEL));
  const wanted = scaleUtc([Date.parse(first.from), Date.parse(last.to)], [0, 1]).ticks(most);
  const every = Math.ceil(wanted.length / most);
  const days = wanted
    .filter((day, at) => at % every === 0 && day.getUTCHours() === 0)
    .map((day) => day.toISOString().slice(0, 10));
  return days.flatMap((day) => {
    const slot = slots.findIndex(({ from, to }) => from <= day && day <= to);
    return slot < 0 ? [] : [{ time: Date.parse(day), x: centre(slot) }];
  });
}

/**
 * The labels of the lines: `$60` for `$60.00`, nothing at zero. If the format rounds several lines to the same label, such
 * as four within one cent, only the highest has it.
 */
export function nameTicks(ticks: PlotLayout['ticks'], format: (value: number) => string) {
  const names = ticks.map(({ value }) => (value > 0 ? format(value).replace(/\.0+(?!\d)/, '') : ''));
  return ticks.map((tick, index) => ({
    ...tick,
    label: names[index] === names[index + 1] ? '' : (names[index] ?? ''),
  }));
}
