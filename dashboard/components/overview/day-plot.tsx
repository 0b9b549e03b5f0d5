import { formatCount, formatDay, formatShort } from '../../ui/format.ts';
import type { Day } from './days.ts';

interface Props {
  title: string;
  days: readonly Day[];
  figureOf: (day: Day) => number;
  /** A part of the value that is drawn in the colour of errors. */
  failedOf?: (day: Day) => number;
}

/** Bars from zero, one a day. */
export function DayPlot({ title, days, figureOf, failedOf }: Props) {
  const most = Math.max(1, ...days.map(figureOf));
  const total = days.reduce((sum, day) => sum + figureOf(day), 0);
  const [first, last] = [days[0], days.at(-1)];
  return (
    <figure className="min-w-0">
      <figcaption className="flex items-baseline justify-between gap-2 text-13">
        <span>{title}</span>
        <span className="text-muted" title={formatCount(total)}>
          {formatShort(total)}
        </span>
      </figcaption>
      <div className="day-plot" aria-hidden>
        {days.map((day) => (
          <div key={day.start} title={`${formatDay(day.start)}: ${formatCount(figureOf(day))}`}>
            <span style={{ height: `${(figureOf(day) / most) * 100}%` }}>
              {failedOf && figureOf(day) > 0 && <i style={{ height: `${(failedOf(day) / figureOf(day)) * 100}%` }} />}
            </span>
          </div>
        ))}
      </div>
      <div className="flex justify-between text-12 text-muted" aria-hidden>
        <span>{first && formatDay(first.start)}</span>
        <span>{last && formatDay(last.start)}</span>
      </div>
    </figure>
  );
}

/** The same figures for those who would rather read. */
export function DayTable({ days }: { days: readonly Day[] }) {
  return (
    <details className="text-13">
      <summary className="w-fit cursor-pointer text-12 text-muted">Figures by day</summary>
      <table className="table mt-2 max-w-[640px]">
        <thead>
          <tr>
            <th>Day</th>
            <th data-number>Sessions</th>
            <th data-number>Tool calls</th>
            <th data-number>Failed</th>
            <th data-number>Tokens</th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.start}>
              <td>{formatDay(day.start)}</td>
              <td data-number>{formatCount(day.sessions)}</td>
              <td data-number>{formatCount(day.toolCalls)}</td>
              <td data-number>{formatCount(day.failures)}</td>
              <td data-number>{formatCount(day.tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
