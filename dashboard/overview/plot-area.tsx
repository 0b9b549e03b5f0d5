import { type KeyboardEvent, useMemo } from 'react';
import { formatUtcDay } from '../kit/format.ts';
import { pixels } from '../kit/pixels.ts';
import { useWidth } from '../kit/use-width.ts';
import type { Range } from '../shared/series-slots.ts';
import { layOutPlot, nameTicks, type PlotLayout } from './plot-layout.ts';
import type { Series } from './series.ts';

/** The data that each part of a plot is drawn from. */
interface PlotData {
  series: readonly Series[];
  slots: readonly Range[];
  format: (value: number) => string;
  /** The address of the sessions of a slot, or of one series of it. */
  addressOf: (range: Range, series?: Series) => string;
  /** The slot under the pointer, in any of the plots. */
  slot: number | undefined;
  onSlot: (slot: number | undefined) => void;
  /** Values of the period before, by slot. */
  ghost?: readonly number[];
}

export interface PlotProps extends PlotData {
  title: string;
  shape: 'bars' | 'line';
  total: number | undefined;
  /** All days of the plot. */
  range: Range;
  isLarge?: boolean;
  /** The values are whole numbers. */
  isWhole?: boolean;
}

/** The drawing of a plot and the days below it. This code is loaded after the page. */
export function PlotArea(props: PlotProps) {
  const { title, series, slots, shape, format, slot, onSlot, addressOf, ghost, isLarge, isWhole } = props;
  const height = pixels(isLarge ? '--plot-height-large' : '--plot-height');
  const [ref, width] = useWidth();
  const layout = useMemo(
    () => layOutPlot(series, slots, width, shape, { height, ...(ghost && { ghost }), ...(isWhole && { isWhole }) }),
    [series, slots, width, shape, height, ghost, isWhole],
  );
  const pointed = slot === undefined ? undefined : slots[slot];
  return (
    <>
      <div className="plot-area" ref={ref} onPointerLeave={() => onSlot(undefined)}>
        <svg aria-hidden width={width} height={height}>
          {layout.ticks.map(({ value, y }) => (
            <line key={value} x2={width} y1={y} y2={y} className={value === 0 ? 'plot-zero' : 'plot-tick'} />
          ))}
        </svg>
        {nameTicks(layout.ticks, format).map(
          ({ value, y, label }) =>
            label !== '' && (
              <span key={value} className="plot-value num" style={{ top: y }} aria-hidden>
                {label}
              </span>
            ),
        )}
        <SlotLinks {...{ title, series, slots, format, addressOf, slot, onSlot }} columns={layout.columns} />
        <PlotMarks {...{ layout, width, height, slots, addressOf, onSlot }} />
        {slot !== undefined && pointed && (
          <SlotTip
            {...{ series, format, slot, width, ...(ghost && { ghost }) }}
            of={pointed}
            x={layout.columns[slot]?.x ?? 0}
          />
        )}
      </div>
      <div className="plot-days num" aria-hidden>
        {layout.days.map(({ time, x }) => (
          <span key={time} style={{ left: Math.max(DAY_HALF, Math.min(x, width - DAY_HALF)) }}>
            {formatUtcDay(time)}
          </span>
        ))}
      </div>
    </>
  );
}

/** Half of the longest label of a day, in pixels. Keeps labels inside of the plot. */
const DAY_HALF = 22;

type Of<Names extends keyof PlotData> = Pick<PlotData, Names>;

interface LinksProps extends Of<'series' | 'slots' | 'format' | 'addressOf' | 'slot' | 'onSlot'> {
  title: string;
  columns: PlotLayout['columns'];
}

/** A link for each slot. All of them are one stop of the Tab key; arrow keys move between them. */
const SlotLinks = ({ title, columns, series, slots, format, addressOf, slot, onSlot }: LinksProps) => (
  <nav aria-label={title} onKeyDown={walk} onBlur={() => onSlot(undefined)}>
    {columns.map(({ x, width }, index) => {
      const at = slots[index] as Range;
      return (
        <a
          key={at.from}
          href={addressOf(at)}
          className="plot-slot"
          data-pointed={slot === index || undefined}
          tabIndex={index === (slot ?? slots.length - 1) ? 0 : -1}
          style={{ left: x, width: Math.max(1, width) }}
          onPointerEnter={() => onSlot(index)}
          onFocus={() => onSlot(index)}
        >
          <span className="sr-only">{`${nameOf(at)} UTC: ${readAloud(series, index, format)}`}</span>
        </a>
      );
    })}
  </nav>
);

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 };

/** Moves the focus between the slots. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const slots = [...event.currentTarget.querySelectorAll<HTMLElement>('.plot-slot')];
  const at = slots.indexOf(event.target as HTMLElement);
  slots[Math.min(slots.length - 1, Math.max(0, at + step))]?.focus();
}

interface MarksProps extends Of<'slots' | 'addressOf' | 'onSlot'> {
  layout: PlotLayout;
  width: number;
  height: number;
}

/** Bars, lines and the outline of the period before. Each layer of a bar links to its sessions. */
const PlotMarks = ({ layout, width, height, slots, addressOf, onSlot }: MarksProps) => (
  <svg aria-hidden width={width} height={height} className="plot-marks">
    {layout.bars.map(({ series, slot, y, height }) => {
      const { x = 0, width = 0 } = layout.columns[slot] ?? {};
      return (
        <a
          key={`${series.label} ${slot}`}
          href={addressOf(slots[slot] as Range, series)}
          tabIndex={-1}
          onPointerEnter={() => onSlot(slot)}
        >
          <rect x={x} y={y} width={width} height={height} fill={series.color} />
        </a>
      );
    })}
    <path className="plot-ghost" d={layout.ghost} />
    {layout.lines.map(({ series, path, points }) => (
      <g key={series.label} stroke={series.color} fill={series.color} pointerEvents="none">
        <path d={path} fill="none" strokeWidth={1.5} />
        {points.map(({ slot, x, y }) => (
          <circle key={slot} cx={x} cy={y} r={points.length > 40 ? 1 : points.length > 3 ? 2 : 3} stroke="none" />
        ))}
      </g>
    ))}
  </svg>
);

interface TipProps extends Of<'series' | 'format' | 'ghost'> {
  slot: number;
  of: Range;
  /** Position of the slot in the plot, and the width of the plot. */
  x: number;
  width: number;
}

/** The values of the slot under the pointer. */
const SlotTip = ({ series, format, ghost, slot, of, x, width }: TipProps) => (
  <div className="plot-tip" style={x > width / 2 ? { right: width - x + 8 } : { left: x + 16 }} aria-hidden>
    <p className="font-medium">{nameOf(of)} UTC</p>
    {series.toReversed().map(({ label, color, values }) => (
      <p key={label} className="flex items-center gap-2">
        <i className="plot-dot" style={{ background: color }} />
        <span className="grow">{label}</span>
        <span className="num">{values[slot] === undefined ? '–' : format(values[slot])}</span>
      </p>
    ))}
    {ghost?.[slot] !== undefined && (
      <p className="flex items-center gap-2 text-muted">
        <i className="plot-ghost-mark" />
        <span className="grow">period before</span>
        <span className="num">{format(ghost[slot])}</span>
      </p>
    )}
  </div>
);

const nameOf = ({ from, to }: Range): string =>
  from === to
    ? formatUtcDay(Date.parse(from), 'year')
    : `${formatUtcDay(Date.parse(from))} to ${formatUtcDay(Date.parse(to), 'year')}`;

const readAloud = (series: readonly Series[], slot: number, format: (value: number) => string): string =>
  series
    .flatMap(({ label, values: { [slot]: value } }) => (value === undefined ? [] : [`${label} ${format(value)}`]))
    .join(', ') || 'nothing';
