import { useMemo } from 'react';
import { formatUtcDay } from '../kit/format.ts';
import { pixels } from '../kit/pixels.ts';
import { useWidth } from '../kit/use-width.ts';
import type { Range } from '../shared/series-slots.ts';
import { layOutPlot, nameTicks } from './plot-layout.ts';
import { type PlotData, PlotMarks, SeriesNames, SlotLinks, SlotTip } from './plot-parts.tsx';

interface Props extends PlotData {
  title: string;
  shape: 'bars' | 'line';
  total: number | undefined;
  /** Of all days. */
  range: Range;
  isLarge?: boolean;
  /** It counts what has no halves. */
  isWhole?: boolean;
}

/** One figure over time. Each slot is a link, and so is each layer of its bar; arrow keys walk over the slots. */
export function TimePlot(props: Props) {
  const { title, series, slots, shape, format, total, slot, onSlot, addressOf, range, ghost, isLarge, isWhole } = props;
  const height = pixels(isLarge ? '--plot-height-large' : '--plot-height');
  const [ref, width] = useWidth();
  const layout = useMemo(
    () => layOutPlot(series, slots, width, shape, { height, ...(ghost && { ghost }), ...(isWhole && { isWhole }) }),
    [series, slots, width, shape, height, ghost, isWhole],
  );
  const pointed = slot === undefined ? undefined : slots[slot];
  return (
    <figure className="plot" data-large={isLarge || undefined}>
      <figcaption className="flex items-baseline justify-between gap-2 text-13">
        <span className="font-medium">{title}</span>
        <span className="num text-muted">{total === undefined ? '–' : format(total)}</span>
      </figcaption>
      <SeriesNames {...{ title, series, format, addressOf, range }} hasGhost={layout.ghost !== ''} />
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
    </figure>
  );
}

/** Half of the longest label of a day, in pixels: none sticks out of its plot. */
const DAY_HALF = 22;
