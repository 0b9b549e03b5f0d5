import { type KeyboardEvent, type ReactNode, useMemo } from 'react';
import { formatUtcDay } from '../kit/format.ts';
import { pixels } from '../kit/pixels.ts';
import { useWidth } from '../kit/use-width.ts';
import type { Range } from '../shared/series-slots.ts';
import { layOutPlot, nameTicks } from './plot-layout.ts';
import type { Series } from './series.ts';

interface Props {
  title: string;
  series: readonly Series[];
  slots: readonly Range[];
  shape: 'bars' | 'line';
  format: (value: number) => string;
  total: number | undefined;
  /** The slot under the pointer, in any of the plots. */
  slot: number | undefined;
  onSlot: (slot: number | undefined) => void;
  /** Address of the sessions of a slot, and of one series of it. */
  addressOf: (range: Range, series?: Series) => string;
  /** Of all days. */
  range: Range;
  /** Values of the period before, by slot. */
  ghost?: readonly number[];
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
  const isTold = series.length > 1 || series.some(({ filter }) => filter);
  return (
    <figure className="plot" data-large={isLarge || undefined}>
      <figcaption className="flex items-baseline justify-between gap-2 text-13">
        <span className="font-medium">{title}</span>
        <span className="num text-muted">{total === undefined ? '–' : format(total)}</span>
      </figcaption>
      <ul className="plot-names" aria-label={`${title}, told apart`}>
        {isTold &&
          series.map((each) => (
            <li key={each.label}>
              <i style={{ background: each.color }} />
              <Name href={each.filter && addressOf(range, each)}>{each.label}</Name>
              <span className="num text-muted">{each.total === undefined ? '' : format(each.total)}</span>
            </li>
          ))}
        {layout.ghost !== '' && (
          <li>
            <i className="plot-ghost-mark" />
            <span>period before</span>
          </li>
        )}
      </ul>
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
        <nav aria-label={title} onKeyDown={walk} onBlur={() => onSlot(undefined)}>
          {layout.columns.map(({ x, width: wide }, index) => {
            const at = slots[index] as Range;
            return (
              <a
                key={at.from}
                href={addressOf(at)}
                className="plot-slot"
                data-pointed={slot === index || undefined}
                tabIndex={index === (slot ?? slots.length - 1) ? 0 : -1}
                style={{ left: x, width: Math.max(1, wide) }}
                onPointerEnter={() => onSlot(index)}
                onFocus={() => onSlot(index)}
              >
                <span className="sr-only">{`${nameOf(at)}: ${readAloud(series, index, format)}`}</span>
              </a>
            );
          })}
        </nav>
        <svg aria-hidden width={width} height={height} className="plot-marks">
          {layout.bars.map(({ series: each, slot: index, y, height }) => {
            const { x = 0, width: wide = 0 } = layout.columns[index] ?? {};
            return (
              <a
                key={`${each.label} ${index}`}
                href={addressOf(slots[index] as Range, each)}
                tabIndex={-1}
                onPointerEnter={() => onSlot(index)}
              >
                <rect x={x} y={y} width={wide} height={height} fill={each.color} />
              </a>
            );
          })}
          <path className="plot-ghost" d={layout.ghost} />
          {layout.lines.map(({ series: each, path, points }) => (
            <g key={each.label} stroke={each.color} fill={each.color} pointerEvents="none">
              <path d={path} fill="none" strokeWidth={1.5} />
              {points.map(({ slot: index, x, y }) => (
                <circle
                  key={index}
                  cx={x}
                  cy={y}
                  r={points.length > 40 ? 1 : points.length > 3 ? 2 : 3}
                  stroke="none"
                />
              ))}
            </g>
          ))}
        </svg>
        {slot !== undefined && slots[slot] && (
          <Tip at={layout.columns[slot]} width={width}>
            <p className="font-medium">{nameOf(slots[slot])}</p>
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
          </Tip>
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

const Name = ({ href, children }: { href: string | undefined; children: ReactNode }) =>
  href === undefined ? <span>{children}</span> : <a href={href}>{children}</a>;

function Tip({ at, width, children }: { at: { x: number } | undefined; width: number; children: ReactNode }) {
  const isRight = (at?.x ?? 0) > width / 2;
  const style = isRight ? { right: width - (at?.x ?? 0) + 8 } : { left: (at?.x ?? 0) + 16 };
  return (
    <div className="plot-tip" style={style} aria-hidden>
      {children}
    </div>
  );
}

const nameOf = ({ from, to }: Range): string =>
  from === to
    ? formatUtcDay(Date.parse(from), 'year')
    : `${formatUtcDay(Date.parse(from))} to ${formatUtcDay(Date.parse(to), 'year')}`;

const readAloud = (series: readonly Series[], slot: number, format: (value: number) => string): string =>
  series
    .flatMap(({ label, values: { [slot]: value } }) => (value === undefined ? [] : [`${label} ${format(value)}`]))
    .join(', ') || 'nothing';

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 };

/** Moves the focus over the slots. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const slots = [...event.currentTarget.querySelectorAll<HTMLElement>('.plot-slot')];
  const at = slots.indexOf(event.target as HTMLElement);
  slots[Math.min(slots.length - 1, Math.max(0, at + step))]?.focus();
}
